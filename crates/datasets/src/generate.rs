use mercer_learning::{Sample, Streams};
use ndarray::Array2;
use rand::Rng;
use std::f64::consts::TAU;

/// A standard normal number by the polar form of Box and Muller (1958).
fn normal(rng: &mut impl Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.r#gen::<f64>()).ln()).sqrt();
    radius * (TAU * rng.r#gen::<f64>()).cos()
}

/// Draws two classes in turn, `x ~ N(±distance/2 · e, I)` with `e` along the diagonal of `ℝ^features`.
///
/// The best possible error is `Φ(−distance/2)`.
///
/// ```
/// use mercer_learning::Streams;
/// let sample = mercer_datasets::two_gaussians(100, 3, 2.0, &mut Streams::root(1).rng("data"));
/// assert_eq!(sample.class_counts(), [50, 50]);
/// ```
///
/// # Panics
/// If `rows` or `features` is 0, or `distance` is not finite.
pub fn two_gaussians(rows: usize, features: usize, distance: f64, rng: &mut impl Rng) -> Sample {
    let shift = distance / 2.0 / (features as f64).sqrt();
    let inputs = Array2::from_shape_fn((rows, features), |(row, _)| {
        normal(rng) + if row % 2 == 0 { -shift } else { shift }
    });
    let labels = (0..rows).map(|row| (row % 2) as u32).collect();
    Sample::classification(inputs, labels, 2).expect("needs rows, features and a finite distance")
}

/// Draws points uniform on the unit square. The class is the colour of a `fields × fields` chess board.
///
/// No linear method does better than chance by much; a kernel method does.
///
/// ```
/// use mercer_learning::Streams;
/// let sample = mercer_datasets::checkerboard(50, 2, &mut Streams::root(1).rng("data"));
/// let (x, label) = (sample.inputs().row(0).to_owned(), sample.labels().expect("classes")[0]);
/// assert_eq!(label == 1, (x[0] < 0.5) != (x[1] < 0.5));
/// ```
///
/// # Panics
/// If `rows` or `fields` is 0.
pub fn checkerboard(rows: usize, fields: usize, rng: &mut impl Rng) -> Sample {
    assert!(fields > 0, "a board needs fields");
    let inputs = Array2::from_shape_simple_fn((rows, 2), || rng.r#gen::<f64>());
    let field = |x: f64| (x * fields as f64) as usize;
    let labels = inputs.rows().into_iter().map(|x| ((field(x[0]) + field(x[1])) % 2) as u32);
    let labels = labels.collect();
    Sample::classification(inputs, labels, 2).expect("needs rows")
}

/// Target of the synthetic problem of "Ridgeless Regression with Random Features".
///
/// ```
/// use mercer_datasets::Generator;
/// let kink = Generator::Kink.sample(50, 10, 5);
/// assert_eq!((kink.rows(), kink.features()), (60, 5));
/// for (x, y) in kink.inputs().rows().into_iter().zip(kink.values().unwrap()) {
///     assert!((y + x.sum().abs()).abs() < 6.0 * 0.2); // −|w·x|, and noise of deviation 0.2
/// }
/// assert_eq!(kink, Generator::Kink.sample(50, 10, 5)); // always the same rows
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Generator {
    /// `y = min(−w·x, w·x) + ε = −|w·x| + ε`, as the text has it; test rows are noisy too.
    Kink,
    /// `y = −w·x + ε`, as in the authors' code. The code takes the minimum of twice the same number, and leaves the
    /// noise away from the test rows.
    Slope,
}

impl Generator {
    /// Draws `train` training rows and then `test` test rows. They have `x ~ N(0, I)` in `ℝ^features`, `w` all ones,
    /// `ε ~ N(0, 0.2²)`.
    ///
    /// Entries are rounded to multiples of 2⁻²⁰, so that they are the same whatever the last digits
    /// of a system's logarithm and cosine.
    ///
    /// ```
    /// use mercer_datasets::Generator;
    /// let sample = Generator::Slope.sample(8, 2, 10);
    /// let last = sample.inputs().row(9).sum();
    /// assert!((sample.values().unwrap()[9] + last).abs() < 1e-5); // test rows have no noise
    /// ```
    ///
    /// # Panics
    /// If there are no rows or no features.
    pub fn sample(self, train: usize, test: usize, features: usize) -> Sample {
        const NOISE: f64 = 0.2;
        let rounded = |value: f64| (value * f64::from(1 << 20)).round() / f64::from(1 << 20);
        // Both targets stand over the same points and the same noise.
        let streams = Streams::root(2022).child("rftk synthetic");
        let (mut points, mut noise) = (streams.rng("points"), streams.rng("noise"));
        let rows = train + test;
        let inputs =
            Array2::from_shape_simple_fn((rows, features), || rounded(normal(&mut points)));
        let values = inputs.rows().into_iter().enumerate().map(|(row, x)| {
            let epsilon = NOISE * normal(&mut noise);
            rounded(match self {
                Self::Kink => epsilon - x.sum().abs(),
                Self::Slope if row < train => epsilon - x.sum(),
                Self::Slope => -x.sum(),
            })
        });
        let values = values.collect();
        Sample::regression(inputs, values).expect("needs rows and features")
    }
}

/// Draws a sample of a given shape, to stand in for a missing dataset. It has one Gaussian a class, in turn, around
/// centres drawn from `N(0, 4 I)`. It proves a path and is never shown as a result.
///
/// With `classes = 0` it is a regression sample: `y = sin(x_1) + x_d²/4 + noise` of deviation 0.1.
///
/// ```
/// use mercer_learning::Streams;
/// let sample = mercer_datasets::stand_in(9, 4, 3, &mut Streams::root(1).rng("data"));
/// assert_eq!(sample.class_counts(), [3, 3, 3]);
/// ```
///
/// # Panics
/// If `rows` or `features` is 0, or `classes` is 1.
pub fn stand_in(rows: usize, features: usize, classes: usize, rng: &mut impl Rng) -> Sample {
    assert!(classes != 1, "a classification sample needs at least two classes");
    if classes == 0 {
        let inputs = Array2::from_shape_simple_fn((rows, features), || normal(rng));
        let values = inputs.map_axis(ndarray::Axis(1), |x| {
            x[0].sin() + x[features - 1].powi(2) / 4.0 + 0.1 * normal(rng)
        });
        return Sample::regression(inputs, values).expect("needs rows and features");
    }
    let centres = Array2::from_shape_simple_fn((classes, features), || 2.0 * normal(rng));
    let inputs = Array2::from_shape_fn((rows, features), |(row, column)| {
        centres[[row % classes, column]] + normal(rng)
    });
    let labels = (0..rows).map(|row| (row % classes) as u32).collect();
    Sample::classification(inputs, labels, classes).expect("needs rows and features")
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_learning::{Shape, Task};

    #[test]
    fn the_gaussians_stand_at_their_distance() {
        // The projection on the diagonal has deviation 1, so the difference of the two means of
        // n/2 rows misses by at most 6 √(4/n) with probability beyond 1 − 1e-8.
        let (n, d, distance) = (20_000, 5, 3.0);
        let sample = two_gaussians(n, d, distance, &mut Streams::root(7).rng("data"));
        let mut means = [0.0, 0.0];
        for (x, &label) in sample.inputs().rows().into_iter().zip(sample.labels().unwrap()) {
            means[label as usize] += x.sum() / (d as f64).sqrt() / (n as f64 / 2.0);
        }
        let tolerance = 6.0 * (4.0 / n as f64).sqrt();
        assert!((means[1] - means[0] - distance).abs() < tolerance, "{means:?}");
    }

    #[test]
    fn the_synthetic_targets_are_the_text_s_and_the_code_s() {
        let (train, test) = (20_000, 10);
        let kink = Generator::Kink.sample(train, test, 10);
        let slope = Generator::Slope.sample(train, test, 10);
        assert_eq!(kink.inputs(), slope.inputs());
        let (y, z) = (kink.values().unwrap(), slope.values().unwrap());
        let mut squares = [0.0; 2];
        for (row, x) in kink.inputs().rows().into_iter().enumerate() {
            let noise = [y[row] + x.sum().abs(), z[row] + x.sum()];
            if row < train {
                // Each target rounds its value by itself.
                assert!((noise[0] - noise[1]).abs() < 3e-6);
                squares.iter_mut().zip(noise).for_each(|(sum, e)| *sum += e * e);
            } else {
                assert!(noise[1].abs() < 1e-6, "noise in a test row of the code's target");
            }
        }
        // A mean of n squares of deviation 0.2 misses 0.04 by 0.04 √(2/n), here 4e-4: five of them.
        for sum in squares {
            assert!((sum / train as f64 - 0.04).abs() < 2e-3);
        }
    }

    #[test]
    fn neighbouring_fields_have_different_colours() {
        let sample = checkerboard(500, 4, &mut Streams::root(2).rng("data"));
        for (x, &label) in sample.inputs().rows().into_iter().zip(sample.labels().unwrap()) {
            let parity = (4.0 * x[0]).floor() + (4.0 * x[1]).floor();
            assert_eq!((parity % 2.0) as u32, label);
        }
    }

    #[test]
    fn a_stand_in_has_the_shape_asked_for() {
        let mut rng = Streams::root(3).rng("data");
        let classes = stand_in(583, 48, 11, &mut rng);
        let task = Task::Classification { classes: 11 };
        assert_eq!(classes.shape(), Shape { rows: 583, features: 48, task });
        assert_eq!(classes.class_counts(), [53; 11]);
        let real = stand_in(10, 3, 0, &mut rng);
        assert_eq!(real.shape(), Shape { rows: 10, features: 3, task: Task::Regression });
    }
}
