//! Three formulas of the ASKL paper as they are printed, against central differences.

use approx::assert_relative_eq;
use mercer_learning::Loss;
use ndarray::{Array1, Array2, Axis, s};
use rand::{Rng, SeedableRng};

/// The golden example: three points, three features, two outputs, squared loss.
struct Example {
    x: Array2<f64>,
    o: Array2<f64>,
    o_prime: Array2<f64>,
    b: Array1<f64>,
    w: Array2<f64>,
    y: Array2<f64>,
}

fn matrix(value: &toml::Value) -> Array2<f64> {
    let rows: Vec<Vec<f64>> =
        value.as_array().unwrap().iter().map(|row| vector(row).to_vec()).collect();
    Array2::from_shape_vec((rows.len(), rows[0].len()), rows.concat()).unwrap()
}

fn vector(value: &toml::Value) -> Array1<f64> {
    value.as_array().unwrap().iter().map(|entry| entry.as_float().unwrap()).collect()
}

impl Example {
    fn new() -> Self {
        let golden: toml::Table =
            include_str!("../../../experiments/golden/askl.toml").parse().unwrap();
        let golden = &golden["askl-2"];
        let labels: Vec<usize> = golden["labels"]
            .as_array()
            .unwrap()
            .iter()
            .map(|label| label.as_integer().unwrap() as usize)
            .collect();
        let w = matrix(&golden["read-out"]);
        let y = Array2::from_shape_fn((labels.len(), w.ncols()), |(i, c)| {
            f64::from(u8::from(labels[i] == c))
        });
        Self {
            x: matrix(&golden["x"]),
            o: matrix(&golden["frequencies"]),
            o_prime: matrix(&golden["frequencies-prime"]),
            b: vector(&golden["phases"]),
            w,
            y,
        }
    }

    /// `φ(X)` with the shared phase, one row a point.
    fn features(&self, o: &Array2<f64>) -> Array2<f64> {
        let scale = 1.0 / (2.0 * o.ncols() as f64).sqrt();
        let cosines =
            |frequencies: &Array2<f64>| (self.x.dot(frequencies) + &self.b).mapv(f64::cos);
        (cosines(o) + cosines(&self.o_prime)) * scale
    }

    /// `(1/m) Σ_i ‖Wᵀφ(x_i) − y_i‖²`.
    fn mean_loss(&self, o: &Array2<f64>) -> f64 {
        let error = self.features(o).dot(&self.w) - &self.y;
        error.mapv(|e| e * e).sum() / self.x.nrows() as f64
    }

    /// The gradients of the paper, `(1/m) Σ_i x_i (D W g_i)ᵀ` and `(1/m) Σ_i 2 x_i φ_iᵀ D`, where
    /// `entry(sin)` is what stands on the diagonal of `D`.
    fn printed(&self, entry: impl Fn(f64) -> f64) -> [Array2<f64>; 2] {
        let phi = self.features(&self.o);
        let error = phi.dot(&self.w) - &self.y;
        let angles = self.x.dot(&self.o) + &self.b;
        let (mut of_loss, mut of_norm) = (Array2::zeros(self.o.dim()), Array2::zeros(self.o.dim()));
        for i in 0..self.x.nrows() {
            let diagonal = angles.row(i).mapv(|angle| entry(angle.sin()));
            let back = self.w.dot(&error.row(i)) * 2.0;
            let x = self.x.slice(s![i..=i, ..]).reversed_axes();
            of_loss += &x.dot(&(&diagonal * &back).insert_axis(Axis(0)));
            of_norm += &x.dot(&(&diagonal * &phi.row(i) * 2.0).insert_axis(Axis(0)));
        }
        let m = self.x.nrows() as f64;
        [of_loss / m, of_norm / m]
    }

    fn numeric(&self, value: impl Fn(&Array2<f64>) -> f64) -> Array2<f64> {
        let h = f64::EPSILON.cbrt();
        Array2::from_shape_fn(self.o.dim(), |at| {
            let moved = |step: f64| {
                let mut o = self.o.clone();
                o[at] += step;
                value(&o)
            };
            (moved(h) - moved(-h)) / (2.0 * h)
        })
    }
}

fn furthest(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    (a - b).iter().fold(0.0, |far, gap| gap.abs().max(far))
}

#[test]
fn the_matrix_d_is_a_product_and_not_the_printed_fraction() {
    let example = Example::new();
    let scale = 1.0 / (2.0 * example.o.ncols() as f64).sqrt();
    let numeric = example.numeric(|o| example.mean_loss(o));
    let [product, _] = example.printed(|sine| -scale * sine);
    assert!(furthest(&product, &numeric) < 1e-8);
    let [fraction, _] = example.printed(|sine| -scale / sine);
    assert!(furthest(&fraction, &numeric) > 0.1, "the printed fraction agrees");
}

/// Equation (4) has the sum over all rows, the printed gradient that of the mean.
#[test]
fn the_printed_feature_gradient_is_that_of_the_mean_not_of_the_sum() {
    let example = Example::new();
    let scale = 1.0 / (2.0 * example.o.ncols() as f64).sqrt();
    let [_, printed] = example.printed(|sine| -scale * sine);
    let sum = |o: &Array2<f64>| example.features(o).mapv(|phi| phi * phi).sum();
    let of_sum = example.numeric(sum);
    let n = example.x.nrows() as f64;
    for (printed, of_sum) in printed.iter().zip(&of_sum) {
        assert_relative_eq!(*printed * n, *of_sum, epsilon = 1e-8);
    }
    assert!(furthest(&printed, &of_sum) > 0.1);
}

/// Lemma 1 needs `|ℓ(f, y) − ℓ(f', y)| ≤ L ‖f − f'‖` with `L = √2`, which is attained.
#[test]
fn hinge_and_cross_entropy_are_lipschitz_in_the_scores() {
    let mut rng = generator();
    for loss in [Loss::Hinge, Loss::CrossEntropy] {
        let mut steepest = 0.0f64;
        for _ in 0..20_000 {
            let k = rng.gen_range(2..6);
            let label = rng.gen_range(0..k);
            let size: f64 = rng.gen_range(0.1..20.0);
            let f: Vec<f64> = (0..k).map(|_| rng.gen_range(-size..size)).collect();
            let g: Vec<f64> = f.iter().map(|f| f + rng.gen_range(-1.0..1.0)).collect();
            let distance = f.iter().zip(&g).map(|(f, g)| (f - g).powi(2)).sum::<f64>().sqrt();
            let value = |scores: &[f64]| loss.of_class(&mut scores.to_vec(), label);
            steepest = steepest.max((value(&f) - value(&g)).abs() / distance);
        }
        assert!(steepest <= std::f64::consts::SQRT_2 + 1e-9, "{loss:?} has slope {steepest}");
        assert!(steepest > 1.3, "{loss:?} has slope {steepest} at most");
    }
}

fn generator() -> impl Rng {
    rand::rngs::StdRng::seed_from_u64(11)
}
