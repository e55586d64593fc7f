use super::profile::Profile;
use super::ready::{Ready, TILE, tiles};
use super::{Covariance, centre};
use mercer_linalg::product;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, s};
use std::ops::Range;

/// `∂L/∂K` of low rank: `left · rightᵀ`, plus one entry on the diagonal.
///
/// For a Gram matrix `left · rightᵀ` is symmetric; it is the derivative by the entries as if all
/// `n²` were free.
///
/// ```
/// use mercer_kernels::{Adjoint, Covariance};
/// use ndarray::array;
/// let kernel = Covariance::Gaussian { scale: 1.5, lengths: vec![1.0] };
/// let x = array![[0.0], [1.0]];
/// // L = Σ_ij K_ij, so that ∂L/∂K is all ones.
/// let ones = array![[1.0], [1.0]];
/// let gradient = kernel.gram_gradient(x.view(), None, &Adjoint::new(ones.view(), ones.view()));
/// // K is proportional to s²: ∂L/∂ln s = 2 L.
/// assert!((gradient.parameters[0] - 2.0 * kernel.gram(x.view()).sum()).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Adjoint<'a> {
    left: ArrayView2<'a, f64>,
    right: ArrayView2<'a, f64>,
    spike: Option<(usize, f64)>,
}

impl<'a> Adjoint<'a> {
    /// Returns `left · rightᵀ` of an `m × q` and an `n × q` matrix.
    ///
    /// # Panics
    /// If the ranks differ.
    pub fn new(left: ArrayView2<'a, f64>, right: ArrayView2<'a, f64>) -> Self {
        assert_eq!(left.ncols(), right.ncols(), "ranks of an adjoint");
        Self { left, right, spike: None }
    }

    /// With `weight` added to the entry `(row, row)`.
    #[must_use]
    pub const fn with_spike(mut self, row: usize, weight: f64) -> Self {
        self.spike = Some((row, weight));
        self
    }

    fn tile(&self, rows: &Range<usize>, columns: &Range<usize>, mut tile: ArrayViewMut2<'_, f64>) {
        let left = self.left.slice(s![rows.clone(), ..]);
        let right = self.right.slice(s![columns.clone(), ..]);
        product(1.0, left, right.t(), 0.0, tile.view_mut());
        if let Some((row, weight)) = self.spike
            && rows.contains(&row)
            && columns.contains(&row)
        {
            tile[[row - rows.start, row - columns.start]] += weight;
        }
    }
}

/// Derivatives of a function of a Gram matrix.
///
/// ```
/// use mercer_kernels::{Adjoint, Covariance};
/// use ndarray::array;
/// let kernel = Covariance::Gaussian { scale: 1.5, lengths: vec![1.0] };
/// let x = array![[0.0], [1.0]];
/// // L = K_01 + K_10 = 2 s² exp(−(x_0 − x_1)²/2ℓ²).
/// let (left, right) = (array![[1.0, 0.0], [0.0, 1.0]], array![[0.0, 1.0], [1.0, 0.0]]);
/// let gradient = kernel.gram_gradient(x.view(), None, &Adjoint::new(left.view(), right.view()));
/// let value = 2.0 * 1.5 * 1.5 * (-0.5f64).exp();
/// let near = |a: f64, b: f64| (a - b).abs() < 1e-14;
/// assert!(near(gradient.parameters[0], 2.0 * value)); // by ln s
/// assert!(near(gradient.parameters[1], value)); // by ln ℓ
/// assert!(near(gradient.inputs[[0, 0]], value) && near(gradient.inputs[[1, 0]], -value));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CovarianceGradient {
    /// By the logarithms of the parameters, in the order of [`Covariance::parameters`].
    pub parameters: Vec<f64>,
    /// By the inputs, `n × d`.
    pub inputs: Array2<f64>,
}

/// Derivatives of a function of a cross-Gram matrix.
///
/// ```
/// use mercer_kernels::{Adjoint, Covariance};
/// use ndarray::array;
/// let kernel = Covariance::Gaussian { scale: 1.0, lengths: vec![1.0] };
/// let (left, right, one) = (array![[0.0]], array![[1.0]], array![[1.0]]);
/// // L = k(0, 1) = exp(−1/2).
/// let gradient =
///     kernel.cross_gradient(left.view(), right.view(), &Adjoint::new(one.view(), one.view()));
/// let value = (-0.5f64).exp();
/// // Nearer together it grows, and as much from the one side as from the other.
/// assert!((gradient.left[[0, 0]] - value).abs() < 1e-15);
/// assert!((gradient.right[[0, 0]] + value).abs() < 1e-15);
/// assert!((gradient.parameters[1] - value).abs() < 1e-15); // by ln ℓ
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CrossGradient {
    /// By the logarithms of the parameters, in the order of [`Covariance::parameters`].
    pub parameters: Vec<f64>,
    /// By the left inputs, `m × d`.
    pub left: Array2<f64>,
    /// By the right inputs, `n × d`.
    pub right: Array2<f64>,
}

/// Sums over all pairs, of one leaf of a kernel.
struct Sums {
    /// `Σ M ∂k/∂ln s` and the like: scale, then shape or offset.
    scale: f64,
    other: f64,
    /// `w ∘ X̃ − W Z̃` of the left points and the same of the right (stationary), or `W Z`.
    left: Array2<f64>,
    right: Array2<f64>,
}

enum Tree {
    Leaf(Sums),
    Node(Vec<Tree>),
}

/// Which tiles a pass walks over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Walk {
    /// All tiles of a rectangle.
    All,
    /// Tiles on the diagonal of a symmetric matrix.
    Diagonal,
    /// Tiles below the diagonal, each standing for its mirror image as well.
    Below,
}

impl Covariance {
    /// Returns derivatives of `L` by parameters and inputs, from `∂L/∂K` of the Gram matrix.
    ///
    /// `gram`, if it is at hand, saves a Gaussian kernel its second evaluation; only what stands
    /// below its diagonal is read, so the memory of a Cholesky factorisation will do. Length scales
    /// cost one product with the inputs: with `W = ∂L/∂K ∘ K` and its row sums `w`,
    /// `Σ_ab W_ab (x_aj − x_bj)² = 2 Σ_a x_aj (w_a x_aj − (W X)_aj)`.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn gram_gradient(
        &self,
        inputs: ArrayView2<'_, f64>,
        gram: Option<ArrayView2<'_, f64>>,
        adjoint: &Adjoint<'_>,
    ) -> CovarianceGradient {
        let n = inputs.nrows();
        assert!(
            adjoint.left.nrows() == n && adjoint.right.nrows() == n,
            "an adjoint of as many rows as the inputs"
        );
        let ready = Ready::of(self, inputs, centre(inputs).view());
        let mut tree = Tree::of(&ready, &ready, true);
        let mut weights = Array2::zeros((TILE.min(n), TILE.min(n)));
        for rows in tiles(n) {
            for columns in tiles(n).filter(|columns| columns.start <= rows.start) {
                let mut weights = weights.slice_mut(s![..rows.len(), ..columns.len()]);
                adjoint.tile(&rows, &columns, weights.view_mut());
                let below = columns.start < rows.start;
                let walk = if below { Walk::Below } else { Walk::Diagonal };
                let values = gram.filter(|_| below);
                let values = values.map(|gram| gram.slice_move(s![rows.clone(), columns.clone()]));
                tree.add(&ready, &rows, &ready, &columns, weights, values, walk);
            }
        }
        let mut parameters = Vec::new();
        let mut gradient = Array2::zeros(inputs.dim());
        tree.finish_symmetric(&ready, &mut parameters, &mut gradient);
        CovarianceGradient { parameters, inputs: gradient }
    }

    /// Returns derivatives of `L` by the parameters and both sides' inputs, from `∂L/∂K` of [`Covariance::cross_gram`].
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn cross_gradient(
        &self,
        left: ArrayView2<'_, f64>,
        right: ArrayView2<'_, f64>,
        adjoint: &Adjoint<'_>,
    ) -> CrossGradient {
        let centre = centre(right);
        let (a, b) = (Ready::of(self, left, centre.view()), Ready::of(self, right, centre.view()));
        let mut tree = Tree::of(&a, &b, false);
        for rows in tiles(left.nrows()) {
            for columns in tiles(right.nrows()) {
                let mut weights = Array2::zeros((rows.len(), columns.len()));
                adjoint.tile(&rows, &columns, weights.view_mut());
                tree.add(&a, &rows, &b, &columns, weights.view_mut(), None, Walk::All);
            }
        }
        let mut gradient = CrossGradient {
            parameters: Vec::new(),
            left: Array2::zeros(left.dim()),
            right: Array2::zeros(right.dim()),
        };
        tree.finish_cross(&a, &b, &mut gradient);
        gradient
    }
}

impl Tree {
    fn of(left: &Ready, right: &Ready, symmetric: bool) -> Self {
        match (left, right) {
            (
                Ready::Stationary { points: a, .. } | Ready::Dot { points: a, .. },
                Ready::Stationary { points: b, .. } | Ready::Dot { points: b, .. },
            ) => {
                let right = if symmetric { (0, 0) } else { b.dim() };
                Self::Leaf(Sums {
                    scale: 0.0,
                    other: 0.0,
                    left: Array2::zeros(a.dim()),
                    right: Array2::zeros(right),
                })
            }
            (Ready::Sum(a), Ready::Sum(b)) | (Ready::Product(a), Ready::Product(b)) => {
                Self::Node(a.iter().zip(b).map(|(a, b)| Self::of(a, b, symmetric)).collect())
            }
            _ => unreachable!("both sides are made from one kernel"),
        }
    }

    /// Adds one tile of `∂L/∂K`, whose memory it uses up.
    #[expect(clippy::too_many_arguments, reason = "a tile is two sides, weights and values")]
    fn add(
        &mut self,
        a: &Ready,
        rows: &Range<usize>,
        b: &Ready,
        columns: &Range<usize>,
        mut weights: ArrayViewMut2<'_, f64>,
        values: Option<ArrayView2<'_, f64>>,
        walk: Walk,
    ) {
        match (self, a, b) {
            (Self::Leaf(sums), ..) => {
                let (scale, other) = leaf(a, rows, b, columns, weights.view_mut(), values);
                let images = if walk == Walk::Below { 2.0 } else { 1.0 };
                sums.scale += images * scale;
                sums.other += images * other;
                sums.spread(a, rows, b, columns, weights.view(), walk);
            }
            (Self::Node(trees), Ready::Sum(a), Ready::Sum(b)) => {
                for ((tree, a), b) in trees.iter_mut().zip(a).zip(b) {
                    let mut own = weights.to_owned();
                    tree.add(a, rows, b, columns, own.view_mut(), None, walk);
                }
            }
            (Self::Node(trees), Ready::Product(a), Ready::Product(b)) => {
                let factors: Vec<Array2<f64>> = a
                    .iter()
                    .zip(b)
                    .map(|(a, b)| {
                        let mut tile = Array2::zeros(weights.dim());
                        a.fill(rows, b, columns, tile.view_mut());
                        tile
                    })
                    .collect();
                for (index, tree) in trees.iter_mut().enumerate() {
                    let mut own = weights.to_owned();
                    for (_, factor) in factors.iter().enumerate().filter(|(i, _)| *i != index) {
                        own *= factor;
                    }
                    tree.add(&a[index], rows, &b[index], columns, own.view_mut(), None, walk);
                }
            }
            _ => unreachable!("both sides are made from one kernel"),
        }
    }

    fn finish_symmetric(&self, ready: &Ready, parameters: &mut Vec<f64>, inputs: &mut Array2<f64>) {
        match (self, ready) {
            (Self::Leaf(sums), Ready::Stationary { points, inverse, .. }) => {
                let per_column = (&sums.left * points).sum_axis(Axis(0)) * 2.0;
                sums.list(ready, &per_column, parameters);
                *inputs -= &(&sums.left * inverse * 2.0);
            }
            (Self::Leaf(sums), Ready::Dot { .. }) => {
                sums.list(ready, &Array1::zeros(0), parameters);
                *inputs += &(&sums.left * 2.0);
            }
            (Self::Node(trees), Ready::Sum(of) | Ready::Product(of)) => {
                for (tree, ready) in trees.iter().zip(of) {
                    tree.finish_symmetric(ready, parameters, inputs);
                }
            }
            _ => unreachable!("a tree has the form of its kernel"),
        }
    }

    fn finish_cross(&self, a: &Ready, b: &Ready, gradient: &mut CrossGradient) {
        match (self, a, b) {
            (
                Self::Leaf(sums),
                Ready::Stationary { points: x, inverse, .. },
                Ready::Stationary { points: z, .. },
            ) => {
                let per_column =
                    (&sums.left * x).sum_axis(Axis(0)) + (&sums.right * z).sum_axis(Axis(0));
                sums.list(a, &per_column, &mut gradient.parameters);
                gradient.left -= &(&sums.left * inverse);
                gradient.right -= &(&sums.right * inverse);
            }
            (Self::Leaf(sums), ..) => {
                sums.list(a, &Array1::zeros(0), &mut gradient.parameters);
                gradient.left += &sums.left;
                gradient.right += &sums.right;
            }
            (
                Self::Node(trees),
                Ready::Sum(a) | Ready::Product(a),
                Ready::Sum(b) | Ready::Product(b),
            ) => {
                for ((tree, a), b) in trees.iter().zip(a).zip(b) {
                    tree.finish_cross(a, b, gradient);
                }
            }
            _ => unreachable!("a tree has the form of its kernel"),
        }
    }
}

impl Sums {
    /// Lists the leaf's derivatives in the order of its parameters.
    fn list(&self, ready: &Ready, per_column: &Array1<f64>, parameters: &mut Vec<f64>) {
        parameters.push(self.scale);
        match ready {
            Ready::Stationary { profile, isotropic, .. } => {
                if *isotropic {
                    parameters.push(per_column.sum());
                } else {
                    parameters.extend(per_column);
                }
                if matches!(profile, Profile::RationalQuadratic(_)) {
                    parameters.push(self.other);
                }
            }
            Ready::Dot { learns_offset: true, .. } => parameters.push(self.other),
            _ => {}
        }
    }

    /// What the weights of a tile mean for its points.
    fn spread(
        &mut self,
        a: &Ready,
        rows: &Range<usize>,
        b: &Ready,
        columns: &Range<usize>,
        weights: ArrayView2<'_, f64>,
        walk: Walk,
    ) {
        let (
            Ready::Stationary { points: x, .. } | Ready::Dot { points: x, .. },
            Ready::Stationary { points: z, .. } | Ready::Dot { points: z, .. },
        ) = (a, b)
        else {
            unreachable!("a leaf has points");
        };
        let stationary = matches!(a, Ready::Stationary { .. });
        let sign = if stationary { -1.0 } else { 1.0 };
        let (x, z) = (x.slice(s![rows.clone(), ..]), z.slice(s![columns.clone(), ..]));
        let mut left = self.left.slice_mut(s![rows.clone(), ..]);
        product(sign, weights, z, 1.0, left.view_mut());
        if stationary {
            add_scaled_rows(&weights.sum_axis(Axis(1)), x, left);
        }
        let mut right = match walk {
            Walk::Diagonal => return,
            Walk::Below => self.left.slice_mut(s![columns.clone(), ..]),
            Walk::All => self.right.slice_mut(s![columns.clone(), ..]),
        };
        product(sign, weights.t(), x, 1.0, right.view_mut());
        if stationary {
            add_scaled_rows(&weights.sum_axis(Axis(0)), z, right);
        }
    }
}

/// `to += diag(w) points`.
fn add_scaled_rows(w: &Array1<f64>, points: ArrayView2<'_, f64>, mut to: ArrayViewMut2<'_, f64>) {
    for ((mut to, point), &w) in to.rows_mut().into_iter().zip(points.rows()).zip(w) {
        to.scaled_add(w, &point);
    }
}

/// Turns `M = ∂L/∂K` into what multiplies the points, `W`; returns `Σ M ∂k/∂ln s` and the sum for
/// shape or offset.
fn leaf(
    a: &Ready,
    rows: &Range<usize>,
    b: &Ready,
    columns: &Range<usize>,
    mut weights: ArrayViewMut2<'_, f64>,
    values: Option<ArrayView2<'_, f64>>,
) -> (f64, f64) {
    match a {
        Ready::Stationary { profile: Profile::Gaussian, .. } => {
            if let Some(values) = values {
                weights *= &values;
            } else {
                let mut tile = Array2::zeros(weights.dim());
                a.fill(rows, b, columns, tile.view_mut());
                weights *= &tile;
            }
            (2.0 * weights.sum(), 0.0)
        }
        Ready::Stationary { profile, variance, .. } => {
            let mut tile = Array2::zeros(weights.dim());
            a.squared_distances(rows, b, columns, tile.view_mut());
            let (mut scale, mut other) = (0.0, 0.0);
            for (weight, &squared) in weights.iter_mut().zip(&tile) {
                let at = profile.at(*variance, squared);
                scale += 2.0 * *weight * at.value;
                other += *weight * at.shape;
                *weight *= at.slope;
            }
            (scale, other)
        }
        Ready::Dot { degree, scale, offset, .. } => {
            let mut tile = Array2::zeros(weights.dim());
            a.products(rows, b, columns, tile.view_mut());
            let (variance, power) = (scale * scale, *degree as i32);
            let (mut by_scale, mut by_offset) = (0.0, 0.0);
            for (weight, &u) in weights.iter_mut().zip(&tile) {
                // dk/du of the base u' = s² u + c.
                let slope = f64::from(*degree) * (variance * u + offset).powi(power - 1) * *weight;
                by_scale += 2.0 * slope * variance * u;
                by_offset += slope * offset;
                *weight = slope * variance;
            }
            (by_scale, by_offset)
        }
        Ready::Sum(_) | Ready::Product(_) => unreachable!("sums and products are no leaves"),
    }
}
