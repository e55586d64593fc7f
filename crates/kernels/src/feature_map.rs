use crate::KernelError;
use mercer_linalg::{product, sin_cos};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};
use rand::Rng;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// The four maps of the spectral-learning papers, on frequencies `O`, `O'` (`d × D`).
///
/// | map | `φ(x)` | entries |
/// |---|---|---|
/// | `Psi` | `(4D)^-½ [cos(Oᵀx) + cos(O'ᵀx); sin(Oᵀx) + sin(O'ᵀx)]` | `2D` |
/// | `SharedPhase` | `(2D)^-½ [cos(Oᵀx + b) + cos(O'ᵀx + b)]` | `D` |
/// | `IndependentPhases` | `(2D)^-½ [cos(Oᵀx + b) + cos(O'ᵀx + b')]` | `D` |
/// | `Stationary` | `(2/D)^½ cos(Oᵀx + b)` | `D` |
///
/// The first two stand for a non-stationary kernel; the third, in expectation, only for half a
/// stationary one, because the phases decorrelate its two halves.
///
/// ```
/// use mercer_kernels::Map;
/// use ndarray::array;
/// let origin = array![0.0];
/// let of = |map: Map| map.population_kernel(1.0, 2.0, origin.view(), origin.view());
/// // At 0 all cosines are 1, but independent phases leave only half of a kernel.
/// assert_eq!(Map::ALL.map(of), [1.0, 1.0, 0.5, 1.0]);
/// // A stationary kernel looks at x − z alone; the first two do not.
/// let shifted = array![3.0];
/// let moved = |map: Map| map.population_kernel(1.0, 2.0, shifted.view(), shifted.view());
/// assert_eq!(moved(Map::Stationary), 1.0);
/// assert!(moved(Map::Psi) < 0.51);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Map {
    /// No phases: cosines and sines.
    Psi,
    /// One phase for both frequencies.
    SharedPhase,
    /// A phase for each frequency.
    IndependentPhases,
    /// One frequency.
    Stationary,
}

impl Map {
    /// All maps.
    pub const ALL: [Self; 4] =
        [Self::Psi, Self::SharedPhase, Self::IndependentPhases, Self::Stationary];

    /// Returns whether there is a second set of frequencies.
    pub const fn non_stationary(self) -> bool {
        !matches!(self, Self::Stationary)
    }

    /// Returns the population kernel when `O ~ N(0, s²)` and `O' ~ N(0, s'²)` entrywise. For points `x`, `z` it is:
    /// ```text
    /// stationary   e(s, x − z)
    /// psi, shared  ¼ [e(s, x − z) + e(s', x − z) + e(s, x) e(s', z) + e(s', x) e(s, z)]
    /// independent  ¼ [e(s, x − z) + e(s', x − z)]
    /// ```
    /// with `e(s, u) = exp(−s² ‖u‖² / 2)`.
    ///
    /// # Panics
    /// If the points differ in dimension.
    pub fn population_kernel(
        self,
        std: f64,
        std_prime: f64,
        x: ArrayView1<'_, f64>,
        z: ArrayView1<'_, f64>,
    ) -> f64 {
        let e = |s: f64, squared: f64| (-0.5 * s * s * squared).exp();
        let difference = &x - &z;
        let (between, xx, zz) = (difference.dot(&difference), x.dot(&x), z.dot(&z));
        let stationary = e(std, between);
        let both = 0.25 * (stationary + e(std_prime, between));
        match self {
            Self::Stationary => stationary,
            Self::IndependentPhases => both,
            Self::Psi | Self::SharedPhase => {
                both + 0.25 * (e(std, xx) * e(std_prime, zz) + e(std_prime, xx) * e(std, zz))
            }
        }
    }
}

/// Returns the standard deviation `s` of Gaussian frequencies for a Gaussian kernel of bandwidth `σ`. That is
/// `exp(−‖x − z‖²/2σ²) = exp(−s² ‖x − z‖²/2)` with `s = 1/σ`.
///
/// The ASKL paper's text says `N(0, 1/σ)` where it should say `N(0, σ⁻² I)`; its experiments name
/// `s` itself. Everything here is stated in `s`; this is the one place that translates.
///
/// ```
/// assert_eq!(mercer_kernels::std_of_bandwidth(4.0), 0.25);
/// ```
pub fn std_of_bandwidth(bandwidth: f64) -> f64 {
    bandwidth.recip()
}

/// Settings of a [`FeatureMap`] with Gaussian frequencies.
///
/// ```
/// use mercer_kernels::{FeatureMapParams, Map};
/// use rand::SeedableRng;
/// let rng = || rand_chacha::ChaCha8Rng::seed_from_u64(1);
/// let params = FeatureMapParams { map: Map::Psi, features: 5, std: 0.5, std_prime: Some(2.0) };
/// let map = params.draw(3, &mut rng())?;
/// assert_eq!((map.frequencies().dim(), map.frequencies_prime().dim()), ((3, 5), (3, 5)));
/// let refused = FeatureMapParams { std: 0.0, ..params }.draw(3, &mut rng()).unwrap_err();
/// assert_eq!(refused.to_string(), "std must be positive and finite, got 0");
/// # Ok::<(), mercer_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureMapParams {
    /// Which map.
    pub map: Map,
    /// Features `D`.
    pub features: usize,
    /// Deviation of the entries of `O`, in 1/input unit.
    pub std: f64,
    /// Standard deviation of the entries of `O'`; the deviation of `O` if absent.
    pub std_prime: Option<f64>,
}

impl FeatureMapParams {
    /// Checks the settings, then draws `O`, `O'`, `b`, `b'` for inputs of dimension `d`.
    ///
    /// ```
    /// use mercer_kernels::{FeatureMapParams, Map};
    /// use ndarray::array;
    /// use rand::SeedableRng;
    /// let params =
    ///     FeatureMapParams { map: Map::Stationary, features: 4000, std: 0.8, std_prime: None };
    /// let map = params.draw(2, &mut rand_chacha::ChaCha8Rng::seed_from_u64(1))?;
    /// let phi = map.features(array![[0.7, -0.3], [-0.2, 0.5]].view());
    /// let k = phi.row(0).dot(&phi.row(1));
    /// assert!((k - 0.6287635544670983).abs() < 0.1); // exp(-0.8² · 1.45 / 2)
    /// # Ok::<(), mercer_kernels::KernelError>(())
    /// ```
    ///
    /// # Errors
    /// [`KernelError::NoFeatures`], [`KernelError::NoInputs`] or [`KernelError::Deviation`].
    pub fn draw(&self, d: usize, rng: &mut impl Rng) -> Result<FeatureMap, KernelError> {
        let big_d = self.features;
        let std_prime = self.std_prime.unwrap_or(self.std);
        for (name, value) in [("std", self.std), ("std_prime", std_prime)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(KernelError::Deviation { name, value });
            }
        }
        let mut normal = |std: f64, columns: usize| {
            Array2::from_shape_simple_fn((d, columns), || {
                std * rng.sample::<f64, _>(StandardNormal)
            })
        };
        let frequencies = normal(self.std, big_d);
        let second = if self.map.non_stationary() { big_d } else { 0 };
        let frequencies_prime = normal(std_prime, second);
        let mut uniform =
            |count: usize| Array1::from_shape_simple_fn(count, || rng.gen_range(0.0..TAU));
        let phases = uniform(if self.map == Map::Psi { 0 } else { big_d });
        let phases_prime = uniform(if self.map == Map::IndependentPhases { big_d } else { 0 });
        FeatureMap::new(self.map, frequencies, frequencies_prime, phases, phases_prime)
    }
}

/// A feature map with its frequencies and phases: `φ(x)·φ(z)` approximates a kernel.
///
/// ```
/// use mercer_kernels::{FeatureMap, Map};
/// use ndarray::{Array1, Array2, array};
/// use std::f64::consts::PI;
/// // One frequency, O = 1, of phase 0: φ(x) = √2 cos x.
/// let map = FeatureMap::new(
///     Map::Stationary,
///     array![[1.0]],
///     Array2::zeros((1, 0)),
///     array![0.0],
///     Array1::zeros(0),
/// )?;
/// let phi = map.features(array![[0.0], [PI]].view());
/// assert!((phi[[0, 0]] - 2f64.sqrt()).abs() < 1e-15 && (phi[[1, 0]] + 2f64.sqrt()).abs() < 1e-15);
/// // Over all phases, cos(x − z).
/// let kernel = map.expected_kernel(array![[2.0]].view(), array![[0.5]].view());
/// assert!((kernel[[0, 0]] - 1.5f64.cos()).abs() < 1e-15);
/// # Ok::<(), mercer_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureMap {
    map: Map,
    frequencies: Array2<f64>,
    frequencies_prime: Array2<f64>,
    phases: Array1<f64>,
    phases_prime: Array1<f64>,
}

impl FeatureMap {
    /// Builds a map from frequencies `O`, `O'` and phases `b`, `b'`. Frequencies are `d × D` (`O'` has no columns for
    /// `Stationary`); phases have length `D`, or are empty where the map has none.
    ///
    /// # Errors
    /// [`KernelError::NoFeatures`], [`KernelError::NoInputs`], or [`KernelError::Shape`] if the
    /// parts do not fit the map.
    pub fn new(
        map: Map,
        frequencies: Array2<f64>,
        frequencies_prime: Array2<f64>,
        phases: Array1<f64>,
        phases_prime: Array1<f64>,
    ) -> Result<Self, KernelError> {
        let (d, big_d) = frequencies.dim();
        if big_d == 0 {
            return Err(KernelError::NoFeatures);
        }
        if d == 0 {
            return Err(KernelError::NoInputs);
        }
        let needed = |present: bool| if present { big_d } else { 0 };
        let second = frequencies_prime.ncols();
        for (what, expected, found) in [
            ("frequencies_prime", needed(map.non_stationary()), second),
            ("phases", needed(map != Map::Psi), phases.len()),
            ("phases_prime", needed(map == Map::IndependentPhases), phases_prime.len()),
            (
                "a column of frequencies_prime",
                d,
                if second > 0 { frequencies_prime.nrows() } else { d },
            ),
        ] {
            if expected != found {
                return Err(KernelError::Shape { what, expected, found });
            }
        }
        Ok(Self { map, frequencies, frequencies_prime, phases, phases_prime })
    }

    /// Returns the kind of map.
    pub const fn map(&self) -> Map {
        self.map
    }

    /// Returns the frequencies `O`, `d × D`.
    pub fn frequencies(&self) -> ArrayView2<'_, f64> {
        self.frequencies.view()
    }

    /// Returns the frequencies `O'`, `d × D`, or no columns.
    pub fn frequencies_prime(&self) -> ArrayView2<'_, f64> {
        self.frequencies_prime.view()
    }

    /// Returns `φ(x)` of each row of `inputs` (`n × d`): `n × D`, or `n × 2D` for [`Map::Psi`].
    ///
    /// # Panics
    /// If the inputs have another width than the frequencies.
    pub fn features(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let (n, big_d) = (inputs.nrows(), self.frequencies.ncols());
        let none = Array1::zeros(0);
        let Waves { mut cosines, mut sines } = Waves::of(inputs, &self.frequencies, &self.phases);
        if self.map.non_stationary() {
            let phases = match self.map {
                Map::SharedPhase => &self.phases,
                Map::IndependentPhases => &self.phases_prime,
                Map::Psi | Map::Stationary => &none,
            };
            let second = Waves::of(inputs, &self.frequencies_prime, phases);
            cosines += &second.cosines;
            sines += &second.sines;
        }
        let d = big_d as f64;
        match self.map {
            Map::Psi => {
                let mut psi = Array2::zeros((n, 2 * big_d));
                psi.slice_mut(s![.., ..big_d]).assign(&cosines);
                psi.slice_mut(s![.., big_d..]).assign(&sines);
                psi / (4.0 * d).sqrt()
            }
            Map::SharedPhase | Map::IndependentPhases => cosines / (2.0 * d).sqrt(),
            Map::Stationary => cosines * (2.0 / d).sqrt(),
        }
    }

    /// Returns the expected inner product `E φ(x)·φ(z)` over the phases, given the frequencies. It is for rows of
    /// `left` (`n × d`) and `right` (`m × d`): `n × m`. For [`Map::Psi`] it is exact, not a mean.
    /// ```text
    /// psi, shared  (1/4D) Σ_j Σ_{u,v ∈ {w_j, w'_j}} cos(uᵀx − vᵀz)
    /// independent  (1/4D) Σ_j [cos(w_jᵀ(x − z)) + cos(w'_jᵀ(x − z))]
    /// stationary   (1/D)  Σ_j cos(w_jᵀ(x − z))
    /// ```
    ///
    /// # Panics
    /// If the inputs have another width than the frequencies.
    pub fn expected_kernel(
        &self,
        left: ArrayView2<'_, f64>,
        right: ArrayView2<'_, f64>,
    ) -> Array2<f64> {
        let none = Array1::zeros(0);
        let of =
            |frequencies| [left.view(), right.view()].map(|x| Waves::of(x, frequencies, &none));
        let big_d = self.frequencies.ncols() as f64;
        let [left_w, right_w] = of(&self.frequencies);
        let same = left_w.cosines_of_differences(&right_w);
        if self.map == Map::Stationary {
            return same / big_d;
        }
        let [left_w_prime, right_w_prime] = of(&self.frequencies_prime);
        let mut total = same + left_w_prime.cosines_of_differences(&right_w_prime);
        if self.map != Map::IndependentPhases {
            total += &left_w.cosines_of_differences(&right_w_prime);
            total += &left_w_prime.cosines_of_differences(&right_w);
        }
        total / (4.0 * big_d)
    }
}

/// Cosines and sines of `X O + b`, `n × D` each.
struct Waves {
    cosines: Array2<f64>,
    sines: Array2<f64>,
}

impl Waves {
    /// Of inputs `n × d`, frequencies `d × D` and `D` phases; none of these means zero.
    fn of(inputs: ArrayView2<'_, f64>, frequencies: &Array2<f64>, phases: &Array1<f64>) -> Self {
        let shape = (inputs.nrows(), frequencies.ncols());
        let mut angles = Array2::zeros(shape);
        product(1.0, inputs, frequencies.view(), 0.0, angles.view_mut());
        if !phases.is_empty() {
            angles += &phases.view().insert_axis(Axis(0));
        }
        let (mut sines, mut cosines) = (Array2::zeros(shape), Array2::zeros(shape));
        sin_cos(
            angles.as_slice().expect("contiguous"),
            sines.as_slice_mut().expect("contiguous"),
            cosines.as_slice_mut().expect("contiguous"),
        );
        Self { cosines, sines }
    }

    /// `Σ_j cos(u_j − v_j)` between the angles `u` of each row here and `v` of each row there:
    /// `cos u cos v + sin u sin v`, so that the sums are two products of matrices.
    fn cosines_of_differences(&self, other: &Self) -> Array2<f64> {
        self.cosines.dot(&other.cosines.t()) + self.sines.dot(&other.sines.t())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::array;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    const GOLDEN: &str = include_str!("../../../experiments/golden/askl.toml");

    #[test]
    fn golden_population_kernels() {
        let golden: toml::Table = GOLDEN.parse().unwrap();
        let golden = &golden["askl-1"];
        let point = |name: &str| -> Array1<f64> {
            golden[name].as_array().unwrap().iter().map(|x| x.as_float().unwrap()).collect()
        };
        let number = |name: &str| golden[name].as_float().unwrap();
        let (x, z, std) = (point("x"), point("z"), number("std"));
        let kernel =
            |map: Map, z: &Array1<f64>| map.population_kernel(std, std, x.view(), z.view());
        for (map, other, name) in [
            (Map::Stationary, &z, "stationary"),
            (Map::SharedPhase, &z, "shared"),
            (Map::Psi, &z, "shared"),
            (Map::IndependentPhases, &z, "independent"),
            (Map::SharedPhase, &x, "shared-diagonal-at-x"),
        ] {
            // The independent one is printed with a wrong tenth digit; 1e-8 is what is promised.
            assert_relative_eq!(kernel(map, other), number(name), max_relative = 1e-8);
        }
        assert_relative_eq!(kernel(Map::IndependentPhases, &x), 0.5);
        assert_relative_eq!(kernel(Map::Stationary, &x), 1.0);
    }

    fn drawn(map: Map, features: usize, std: f64, std_prime: f64, seed: u64) -> FeatureMap {
        let params = FeatureMapParams { map, features, std, std_prime: Some(std_prime) };
        params.draw(2, &mut ChaCha8Rng::seed_from_u64(seed)).unwrap()
    }

    /// Root mean square, over many draws, of the error of `φ(x)·φ(z)` at three pairs.
    fn error(map: Map, features: usize, std: f64, std_prime: f64) -> f64 {
        let points = array![[0.7, -0.3], [-0.2, 0.5], [1.1, 0.4]];
        let draws = 400;
        let mut total = 0.0;
        for seed in 0..draws {
            let phi = drawn(map, features, std, std_prime, seed).features(points.view());
            for (i, j) in [(0, 0), (0, 1), (1, 2)] {
                let truth = map.population_kernel(std, std_prime, points.row(i), points.row(j));
                total += (phi.row(i).dot(&phi.row(j)) - truth).powi(2);
            }
        }
        (total / (3 * draws) as f64).sqrt()
    }

    #[test]
    fn every_map_converges_to_its_kernel_at_the_rate_of_the_square_root() {
        for map in Map::ALL {
            for (std, std_prime) in [(0.2, 0.2), (0.8, 0.8), (3.0, 3.0), (0.5, 1.5)] {
                let (few, many) = (error(map, 50, std, std_prime), error(map, 800, std, std_prime));
                // Each error is a root mean square of 1200 terms, right to about 5 %: sixteen
                // times the features must divide it by 4 within five such deviations.
                assert!((few / many - 4.0).abs() < 1.2, "{map:?} {std}: {few} {many}");
                // Terms of the mean lie in [-2, 2] for every map, so the deviation is below 2/√D.
                assert!(few < 2.0 / 50f64.sqrt(), "{map:?} {std}: {few}");
            }
        }
    }

    #[test]
    fn the_expected_kernel_is_the_mean_over_phases() {
        let points = array![[0.7, -0.3], [-0.2, 0.5], [1.1, 0.4]];
        for map in Map::ALL {
            let one = drawn(map, 3, 0.9, 0.6, 1);
            let exact = one.expected_kernel(points.view(), points.view());
            let mut mean = Array2::<f64>::zeros((3, 3));
            // A lattice over [0, 2π)² integrates these trigonometric polynomials exactly.
            let steps = 8;
            for a in 0..steps {
                for b in 0..steps {
                    let angle = |i: usize| i as f64 * TAU / f64::from(steps as u32);
                    let mut at = one.clone();
                    at.phases.fill(angle(a));
                    at.phases_prime.fill(angle(b));
                    let phi = at.features(points.view());
                    mean += &(phi.dot(&phi.t()) / (steps * steps) as f64);
                }
            }
            for (found, exact) in mean.iter().zip(&exact) {
                assert_relative_eq!(found, exact, epsilon = 1e-14);
            }
        }
    }

    #[test]
    fn equal_frequencies_give_back_the_stationary_map_only_with_a_shared_phase() {
        let points = array![[0.7, -0.3], [-0.2, 0.5]];
        let stationary = drawn(Map::Stationary, 20, 0.8, 0.8, 3);
        let FeatureMap { frequencies: o, phases: b, .. } = stationary.clone();
        let shared =
            FeatureMap::new(Map::SharedPhase, o.clone(), o.clone(), b.clone(), Array1::zeros(0));
        let shared = shared.unwrap().features(points.view());
        for (a, b) in shared.iter().zip(&stationary.features(points.view())) {
            assert_relative_eq!(a, b, epsilon = 1e-15);
        }
        let b_prime = b.mapv(|b| b + 1.0);
        let apart = FeatureMap::new(Map::IndependentPhases, o.clone(), o, b, b_prime).unwrap();
        assert!((apart.features(points.view()) - shared).iter().any(|e| e.abs() > 1e-3));
    }

    proptest! {
        #[test]
        fn diagonals_lie_where_the_theory_puts_them(
            x in proptest::array::uniform2(-3.0..3.0f64), std in 0.05..4.0f64, seed in 0u64..50,
        ) {
            let point = Array2::from_shape_vec((1, 2), x.to_vec()).unwrap();
            for map in Map::ALL {
                let k = drawn(map, 7, std, 0.7 * std, seed).expected_kernel(point.view(), point.view());
                let k = k[[0, 0]];
                match map {
                    Map::Stationary => prop_assert!((k - 1.0).abs() < 1e-12),
                    Map::IndependentPhases => prop_assert!((k - 0.5).abs() < 1e-12),
                    Map::Psi | Map::SharedPhase => prop_assert!((-1e-12..=1.0 + 1e-12).contains(&k)),
                }
            }
        }
    }

    #[test]
    fn bad_settings_are_named() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let params = FeatureMapParams { map: Map::Psi, features: 3, std: 1.0, std_prime: None };
        let none = FeatureMapParams { features: 0, ..params.clone() };
        assert_eq!(none.draw(2, &mut rng), Err(KernelError::NoFeatures));
        assert_eq!(params.draw(0, &mut rng), Err(KernelError::NoInputs));
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let narrow = FeatureMapParams { std_prime: Some(bad), ..params.clone() };
            assert!(matches!(
                narrow.draw(2, &mut rng),
                Err(KernelError::Deviation { name: "std_prime", .. })
            ));
        }
        let short = FeatureMap::new(
            Map::SharedPhase,
            Array2::zeros((2, 3)),
            Array2::zeros((2, 3)),
            Array1::zeros(2),
            Array1::zeros(0),
        );
        assert_eq!(short, Err(KernelError::Shape { what: "phases", expected: 3, found: 2 }));
    }
}
