//! Explicit features of a learned kernel, with a sign each.

use super::{numerical, of_kernel, refused};
use mercer_kernels::{GaussianHyper, HyperKernel, Kernel, KernelError, LearnedKernel};
use mercer_learning::{LearningError, State};
use mercer_linalg::{PartialCholesky, product, symmetric_eigen};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, Ix1, Ix2, s};

/// Features of a kernel that was learned with a Gaussian hyper-kernel. They satisfy `k(x, x') ≈ Σ_f s_f φ_f(x) φ_f(x')`
/// with `s_f = ±1`: a map into a Krein space, whose inner product need not be positive. With them anything that is
/// linear in features, a second stage too, costs time linear in the number of points.
///
/// Such a kernel is `k(x, x') = β(x, x') Σ_q c_q w_q(x) w_q(x') + bias` (see [`LearnedKernel`]). Of the two factors
///
/// - `β` is positive definite: `β(x, x') ≈ C(x) C(x')ᵀ`, `C(x) = β(x, Z) β(Z, Z)^(−½)` with `L` pivots `Z` that a
///   partial Cholesky factorisation takes from the reference points. The remainder `e(x) = 1 − ‖C(x)‖²` is known at
///   every point ([`KreinFeatures::residual`]), and `|β − C Cᵀ|(x, x') ≤ (e(x) e(x'))^½`.
/// - The sum `f(x, x')` is `Σ_s σ_s v_s(x) v_s(x')` at the reference points `X` (at most 600 of them), where
///   `f(X, X) u_s = σ_s u_s`. Elsewhere it is the same with `v_s(x) = f(x, X) u_s/σ_s`: a symmetric form of `P`
///   functions is known everywhere from where these are independent. Functions of small `|σ_s|` are left out.
///
/// The features are `|σ_s|^½ v_s(x) C_l(x)`, with the sign of `σ_s`, and `|bias|^½`.
///
/// ```
/// use mercer_kernels::{GaussianHyper, HyperKernel, LearnedKernel, Pairs};
/// use mercer_models::hyper_rkhs::KreinFeatures;
/// use ndarray::array;
/// let hyper = HyperKernel::Gaussian(GaussianHyper::constructed(0.5, 0.5)?);
/// let points = array![[0.0], [0.3], [1.0]];
/// // Not positive definite: coefficients of either sign.
/// let gamma = array![1.0, -0.5, 0.2, 0.3, -2.0, 0.4];
/// let k = LearnedKernel::new(hyper, points.view(), &Pairs::all(3), &gamma)?;
/// let reference = array![[0.0], [0.2], [0.4], [0.6], [0.8], [1.0]];
/// let features = KreinFeatures::of(&k, reference.view(), 6, 1e-12)?;
/// let x = array![[0.1], [0.7]];
/// let gap = features.block(x.view(), x.view()) - k.block(x.view(), x.view(), 1);
/// assert!(gap.iter().all(|gap| gap.abs() < 1e-3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct KreinFeatures {
    gaussian: GaussianHyper,
    /// Points of the kernel (`M × d`) and their pairs.
    points: Array2<f64>,
    pairs: Vec<(usize, usize)>,
    /// `w` to `|σ|^½ v` (`P × r`).
    map: Array2<f64>,
    /// Pivots `Z` (`L × d`), and `β(Z, Z)^(−½)` (`L × L`).
    pivots: Array2<f64>,
    inverse: Array2<f64>,
    bias: f64,
    signs: Array1<f64>,
}

impl KreinFeatures {
    /// Computes the features of `kernel`, with pivots among the rows of `reference` (`n × d`). There are at most `rank`
    /// pivots, and functions of `|σ|` above `tolerance` times the largest. Of more than 600 rows the functions are
    /// looked at on some, so that these should stand in no order: shuffle the rows of a file.
    ///
    /// # Errors
    /// [`LearningError::Setting`] for a kernel of a Wishart hyper-kernel, which is no product over
    /// points, for no reference points, a rank of 0, or a tolerance not in `[0, 1)`;
    /// [`LearningError::Numerical`] for points of another dimension, or values that are not finite.
    pub fn of(
        kernel: &LearnedKernel,
        reference: ArrayView2<'_, f64>,
        rank: usize,
        tolerance: f64,
    ) -> Result<Self, LearningError> {
        let HyperKernel::Gaussian(gaussian) = kernel.hyper() else {
            return Err(refused("kernel", "wishart", "of a Gaussian hyper-kernel"));
        };
        if reference.nrows() == 0 || rank == 0 {
            let (name, value) = if rank == 0 { ("rank", 0) } else { ("reference points", 0) };
            return Err(refused(name, value, "at least 1"));
        }
        if !(0.0..1.0).contains(&tolerance) {
            return Err(refused("tolerance", tolerance, "at least 0 and below 1"));
        }
        if reference.ncols() != kernel.features() {
            let (expected, found) = (kernel.features(), reference.ncols());
            let what = "the reference points' columns";
            return Err(of_kernel(KernelError::Shape { what, expected, found }));
        }
        let beta = gaussian.pair_kernel();
        let pairs = kernel.pairs().as_slice().to_vec();
        let weights: Array1<f64> = pairs
            .iter()
            .zip(&kernel.coefficients())
            .map(|(&(i, j), c)| c * beta.of(kernel.points().row(i), kernel.points().row(j)))
            .collect();
        let (map, signs) = {
            let products = products(gaussian, kernel.points(), &pairs, reference);
            functions(&products, &weights, tolerance)?
        };
        let (pivots, inverse) = pivots(gaussian, reference, rank)?;
        let bias = kernel.bias();
        let count = inverse.ncols();
        let mut all: Vec<f64> =
            signs.iter().flat_map(|&sign| std::iter::repeat_n(sign, count)).collect();
        all.extend((bias != 0.0).then(|| bias.signum()));
        Ok(Self {
            gaussian: *gaussian,
            points: kernel.points().to_owned(),
            pairs,
            map,
            pivots,
            inverse,
            bias,
            signs: all.into(),
        })
    }

    /// Returns the number of features.
    pub fn len(&self) -> usize {
        self.signs.len()
    }

    /// Returns whether there is none: the kernel is 0.
    pub fn is_empty(&self) -> bool {
        self.signs.is_empty()
    }

    /// Input columns `d`.
    pub(super) fn inputs(&self) -> usize {
        self.points.ncols()
    }

    /// Everything that they are, for a model file.
    pub(super) fn state(&self) -> State {
        let pairs = Array2::from_shape_fn((self.pairs.len(), 2), |(q, side)| {
            let (i, j) = self.pairs[q];
            (if side == 0 { i } else { j }) as u32
        });
        State::new()
            .with("pair-variance", self.gaussian.pair_variance())
            .with("mean-variance", self.gaussian.mean_variance())
            .with_array("points", &self.points)
            .with_array("pairs", &pairs)
            .with_array("map", &self.map)
            .with_array("pivots", &self.pivots)
            .with_array("inverse", &self.inverse)
            .with("bias", self.bias)
            .with_array("signs", &self.signs)
    }

    /// The features that a state stands for.
    pub(super) fn restored(state: &State) -> Result<Self, LearningError> {
        let fault = |name: &str, problem: &str| LearningError::State {
            name: name.to_owned(),
            problem: problem.to_owned(),
        };
        let (pair, mean) = (state.value("pair-variance")?, state.value("mean-variance")?);
        let gaussian = GaussianHyper::of_variances(pair, mean)
            .map_err(|error| fault("pair-variance", &error.to_string()))?;
        let points = state.array::<f64, Ix2>("points")?;
        let pairs = state.array::<u32, Ix2>("pairs")?;
        let rows = points.nrows() as u32;
        if pairs.ncols() != 2 || pairs.iter().any(|&row| row >= rows) {
            return Err(fault("pairs", "they name points that are not there"));
        }
        let pairs: Vec<(usize, usize)> =
            pairs.rows().into_iter().map(|q| (q[0] as usize, q[1] as usize)).collect();
        let map = state.array::<f64, Ix2>("map")?;
        let pivots = state.array::<f64, Ix2>("pivots")?;
        let inverse = state.array::<f64, Ix2>("inverse")?;
        let bias: f64 = state.value("bias")?;
        let count = map.ncols() * inverse.ncols() + usize::from(bias != 0.0);
        let signs = state.array_of::<f64, Ix1>("signs", count)?;
        let fits = map.nrows() == pairs.len() && inverse.nrows() == pivots.nrows();
        if !fits || pivots.ncols() != points.ncols() {
            return Err(fault("map", "its arrays are not of one kernel"));
        }
        Ok(Self { gaussian, points, pairs, map, pivots, inverse, bias, signs })
    }

    /// `β`.
    pub(super) fn pair_kernel(&self) -> Kernel {
        self.gaussian.pair_kernel()
    }

    /// `|σ_s|^½ v_s(x)` at the rows of `x` (`n × r`). The products of two rows are `|f|`.
    pub(super) fn functions_at(&self, x: ArrayView2<'_, f64>) -> Array2<f64> {
        let w = products(&self.gaussian, self.points.view(), &self.pairs, x);
        let mut v = Array2::zeros((x.nrows(), self.map.ncols()));
        product(1.0, w.t(), self.map.view(), 0.0, v.view_mut());
        v
    }

    /// Returns `s_f`, 1 or −1.
    pub fn signs(&self) -> ArrayView1<'_, f64> {
        self.signs.view()
    }

    /// Returns the features at the rows of `x` (`n × d`): `n × F`.
    ///
    /// # Panics
    /// If the points have another dimension.
    pub fn at(&self, x: ArrayView2<'_, f64>) -> Array2<f64> {
        let (v, c) = (self.functions_at(x), self.factor(x));
        let mut features = Array2::zeros((x.nrows(), self.len()));
        let count = c.ncols();
        for ((mut to, v), c) in features.rows_mut().into_iter().zip(v.rows()).zip(c.rows()) {
            for (place, &scale) in v.iter().enumerate() {
                to.slice_mut(s![place * count..(place + 1) * count]).assign(&(&c * scale));
            }
            if self.bias != 0.0 {
                to[v.len() * count] = self.bias.abs().sqrt();
            }
        }
        features
    }

    /// Returns `Σ_f s_f φ_f(x_i) φ_f(z_j)`, an approximation of `k(x_i, z_j)` (`m × n`).
    ///
    /// # Panics
    /// If the points have another dimension.
    pub fn block(&self, left: ArrayView2<'_, f64>, right: ArrayView2<'_, f64>) -> Array2<f64> {
        let signed = self.at(left) * self.signs.view().insert_axis(Axis(0));
        let mut values = Array2::zeros((left.nrows(), right.nrows()));
        product(1.0, signed.view(), self.at(right).t(), 0.0, values.view_mut());
        values
    }

    /// Returns the residual `e(x) = β(x, x) − ‖C(x)‖²` of the pair kernel at each row. It lies in `[0, 1]` up to
    /// rounding.
    ///
    /// # Panics
    /// If the points have another dimension.
    pub fn residual(&self, x: ArrayView2<'_, f64>) -> Array1<f64> {
        self.factor(x).rows().into_iter().map(|row| 1.0 - row.dot(&row)).collect()
    }

    /// `C(x)`, `n × L`.
    fn factor(&self, x: ArrayView2<'_, f64>) -> Array2<f64> {
        let values = self.gaussian.pair_kernel().cross_gram(x, self.pivots.view());
        let mut factor = Array2::zeros((x.nrows(), self.inverse.ncols()));
        product(1.0, values.view(), self.inverse.view(), 0.0, factor.view_mut());
        factor
    }
}

/// `w_q(x_i)` (`P × n`).
fn products(
    gaussian: &GaussianHyper,
    points: ArrayView2<'_, f64>,
    pairs: &[(usize, usize)],
    x: ArrayView2<'_, f64>,
) -> Array2<f64> {
    let factors = gaussian.point_factors(points, x);
    let mut products = Array2::zeros((pairs.len(), x.nrows()));
    for (&(i, j), mut row) in pairs.iter().zip(products.rows_mut()) {
        row.assign(&(&factors.row(i) * &factors.row(j)));
    }
    products
}

/// Reference points that the functions are looked at on, at most, and the share of the largest `|σ|` below
/// which there is nothing but rounding.
const LOOKED: usize = 600;
const ROUNDING: f64 = 1e-11;

/// At most so many of `count` places, spread over all. They are multiples of the golden ratio: these follow no small
/// period as every so many do, but are no draw. Hence the order that [`KreinFeatures::of`] asks for.
fn spread(count: usize, most: usize) -> Vec<usize> {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    if count <= most {
        return (0..count).collect();
    }
    let place = |k: usize| ((k as f64 * GOLDEN).fract() * count as f64) as usize;
    let mut places: Vec<usize> = (0..most).map(place).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// `w` to `|σ|^½ v`, and the signs of `σ`, of functions with values in the rows of `products`.
fn functions(
    products: &Array2<f64>,
    weights: &Array1<f64>,
    tolerance: f64,
) -> Result<(Array2<f64>, Vec<f64>), LearningError> {
    let products = products.select(Axis(1), &spread(products.ncols(), LOOKED));
    let weighted = &products * &weights.view().insert_axis(Axis(1));
    let mut form = Array2::zeros((products.ncols(), products.ncols()));
    product(1.0, products.t(), weighted.view(), 0.0, form.view_mut());
    let form = (&form + &form.t()) * 0.5;
    let eigen =
        symmetric_eigen(form.view()).map_err(numerical("the features of a learned kernel"))?;
    let most = eigen.values.iter().fold(0.0f64, |a, sigma| a.max(sigma.abs()));
    let kept: Vec<usize> = (0..eigen.values.len())
        .filter(|&place| eigen.values[place].abs() > tolerance.max(ROUNDING) * most)
        .collect();
    let sigma = eigen.values.select(Axis(0), &kept);
    let vectors = eigen.vectors.select(Axis(1), &kept);
    let mut map = Array2::zeros((products.nrows(), kept.len()));
    product(1.0, weighted.view(), vectors.view(), 0.0, map.view_mut());
    map *= &sigma.mapv(|sigma| sigma.abs().sqrt().recip()).insert_axis(Axis(0));
    Ok((map, sigma.iter().map(|sigma| sigma.signum()).collect()))
}

/// Pivots `Z` of `β` among the rows, and `β(Z, Z)^(−½)`.
fn pivots(
    gaussian: &GaussianHyper,
    reference: ArrayView2<'_, f64>,
    rank: usize,
) -> Result<(Array2<f64>, Array2<f64>), LearningError> {
    let kernel = gaussian.pair_kernel();
    let failed = numerical("factoring the pair kernel");
    let columns = |pivots: &[usize],
                   rows: std::ops::Range<usize>,
                   mut to: ndarray::ArrayViewMut2<'_, f64>| {
        let sections = kernel.sections(reference.select(Axis(0), pivots).view());
        to.assign(&sections.at(reference.slice(s![rows, ..])));
    };
    let diagonal = Array1::ones(reference.nrows());
    let found = PartialCholesky::new(&diagonal, columns, 1e-12, rank.min(reference.nrows()), 1)
        .map_err(&failed)?;
    let pivots = reference.select(Axis(0), &found.pivots);
    let eigen = symmetric_eigen(kernel.gram(pivots.view()).view()).map_err(&failed)?;
    let largest = eigen.values.last().copied().unwrap_or(0.0);
    let first = eigen.values.iter().take_while(|&&value| value <= 1e-14 * largest).count();
    let roots = eigen.values.slice(s![first..]).mapv(|value| value.sqrt().recip());
    let vectors = eigen.vectors.slice(s![.., first..]);
    Ok((pivots, &vectors * &roots.insert_axis(Axis(0))))
}
