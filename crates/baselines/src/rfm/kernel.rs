use super::metric::InputMetric;
use mercer_learning::{LearningError, Predictor, State, Task};
use mercer_linalg::{exp, in_order, product, symmetric_product};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, Ix1, Ix2, s};

/// `k(u, v) = exp(−(‖u − v‖/L)^p)`, positive definite for `0 < p ≤ 2`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Radial {
    /// `L`, in units of the mapped inputs.
    pub bandwidth: f64,
    /// `p`: 1 is the Laplace kernel, 2 the Gaussian one.
    pub exponent: f64,
}

/// Rows whose kernel values are held at once.
pub(super) const BLOCK: usize = 512;
/// Squared distances below this share of the squared norms are taken from differences, to twelve digits:
/// near 0 the kernel has a kink, and its gradient depends on the direction.
const NEAR: f64 = 1e-4;

/// Mapped rows and their squared norms.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Points {
    pub rows: Array2<f64>, // n × r
    squares: Array1<f64>,
}

impl Points {
    pub fn new(rows: Array2<f64>) -> Self {
        let squares = rows.rows().into_iter().map(|row| row.dot(&row)).collect();
        Self { rows, squares }
    }

    /// `‖u_i − v_j‖` of rows `u_i` and all points `v_j`; exactly 0 of equal ones.
    fn distances(&self, rows: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut distances = Array2::zeros((rows.nrows(), self.rows.nrows()));
        product(-2.0, rows, self.rows.t(), 0.0, distances.view_mut());
        for (mut to, row) in distances.rows_mut().into_iter().zip(rows.rows()) {
            let own = row.dot(&row);
            for (j, entry) in to.iter_mut().enumerate() {
                let sum = own + self.squares[j];
                let mut squared = sum + *entry;
                if squared < NEAR * sum {
                    squared = squared_difference(row, self.rows.row(j));
                }
                *entry = squared.sqrt();
            }
        }
        distances
    }
}

fn squared_difference(u: ArrayView1<'_, f64>, v: ArrayView1<'_, f64>) -> f64 {
    u.iter().zip(v).map(|(a, b)| (a - b) * (a - b)).sum()
}

impl Radial {
    /// `k` in place of distances.
    fn values(self, distances: &mut Array2<f64>) {
        let mut exponents = vec![0.0; distances.ncols()];
        for mut row in distances.rows_mut() {
            for (to, &distance) in exponents.iter_mut().zip(&row) {
                *to = -self.power(distance / self.bandwidth);
            }
            exp(&exponents, row.as_slice_mut().expect("a row of a new matrix is contiguous"));
        }
    }

    #[expect(clippy::float_cmp, reason = "1 is exact, and spares a power")]
    fn power(self, scaled: f64) -> f64 {
        if self.exponent == 1.0 { scaled } else { scaled.powf(self.exponent) }
    }

    /// Returns `k(u_i, v_j)` of some rows, `m × n`.
    pub fn at(self, rows: ArrayView2<'_, f64>, points: &Points) -> Array2<f64> {
        let mut values = points.distances(rows);
        self.values(&mut values);
        values
    }

    /// Returns `k(v_i, v_j)` of all points, on so many threads.
    pub fn gram(self, points: &Points, threads: usize) -> Array2<f64> {
        let n = points.rows.nrows();
        let mut gram = Array2::zeros((n, n));
        let blocks = gram.axis_chunks_iter_mut(Axis(0), BLOCK).enumerate();
        mercer_linalg::for_each(threads, blocks, |(index, mut block)| {
            let rows = s![index * BLOCK..index * BLOCK + block.nrows(), ..];
            block.assign(&self.at(points.rows.slice(rows), points));
        });
        gram
    }

    /// Returns gradients `m × r` of `Σ_i α_il k(·, v_i)` at some rows `u`, one matrix an output `l`:
    /// ```text
    /// ∇f_l(u) = (p/L^p) Σ_i α_il k(u, v_i) ‖u − v_i‖^(p−2) (v_i − u)
    /// ```
    /// A point at distance 0 adds nothing: for `p ≤ 1` there is a kink, for `p > 1` that is its gradient.
    pub fn gradients(
        self,
        rows: ArrayView2<'_, f64>,
        points: &Points,
        alpha: &Array2<f64>,
    ) -> Vec<Array2<f64>> {
        let distances = points.distances(rows);
        let mut weights = distances.clone();
        self.values(&mut weights);
        let slope = self.exponent / self.bandwidth.powi(2);
        weights.zip_mut_with(&distances, |weight, &distance| {
            let scaled = distance / self.bandwidth;
            *weight *=
                if scaled < KINK { 0.0 } else { slope * self.power(scaled) / (scaled * scaled) };
        });
        let gradient = |alpha: ArrayView1<'_, f64>| {
            let weighted = &points.rows * &alpha.insert_axis(Axis(1));
            let mut gradients = &rows * &weights.dot(&alpha).insert_axis(Axis(1));
            product(1.0, weights.view(), weighted.view(), -1.0, gradients.view_mut());
            gradients
        };
        alpha.columns().into_iter().map(gradient).collect()
    }

    /// Returns the mean over all points of the outer products of the gradients there. It is summed over outputs:
    /// `r × r`, or its diagonal `1 × r`.
    pub fn mean_outer_product(
        self,
        points: &Points,
        alpha: &Array2<f64>,
        diagonal: bool,
        threads: usize,
    ) -> Array2<f64> {
        let (n, r) = points.rows.dim();
        let blocks = in_order(threads, n.div_ceil(BLOCK), |index| {
            let rows = s![index * BLOCK..(index * BLOCK + BLOCK).min(n), ..];
            let gradients = self.gradients(points.rows.slice(rows), points, alpha);
            let product = |gradients: Array2<f64>| {
                if diagonal {
                    (&gradients * &gradients).sum_axis(Axis(0)).insert_axis(Axis(0))
                } else {
                    symmetric_product(gradients.view())
                }
            };
            gradients.into_iter().map(product).reduce(|sum, next| sum + next)
        });
        let sum = blocks.into_iter().flatten().reduce(|sum, next| sum + next);
        sum.unwrap_or_else(|| Array2::zeros((r, r))) / n as f64
    }
}

/// Shares of the bandwidth below which two points count as one.
const KINK: f64 = 1e-10;

/// `f(x) = mean + Σ_i α_i k(F ᵀ(x − c), v_i)`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expansion {
    pub kernel: Radial,
    pub metric: InputMetric,
    pub centre: Array1<f64>, // c, d
    pub points: Points,
    pub alpha: Array2<f64>, // n × K
    pub mean: Array1<f64>,  // K
}

impl Expansion {
    /// Returns `f`, `m × K`.
    pub fn at(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut values = Array2::zeros((inputs.nrows(), self.mean.len()));
        for start in (0..inputs.nrows()).step_by(BLOCK) {
            let rows = s![start..(start + BLOCK).min(inputs.nrows()), ..];
            let mapped = self.metric.mapped((&inputs.slice(rows) - &self.centre).view());
            let block = self.kernel.at(mapped.view(), &self.points).dot(&self.alpha) + &self.mean;
            values.slice_mut(rows).assign(&block);
        }
        values
    }

    /// Adds the regression to what is kept already.
    pub fn kept(&self, state: State) -> State {
        let Expansion { kernel, metric, centre, points, alpha, mean } = self;
        let state = state
            .with("bandwidth", kernel.bandwidth)
            .with("exponent", kernel.exponent)
            .with_array("centre", centre)
            .with_array("points", &points.rows)
            .with_array("coefficients", alpha)
            .with_array("mean", mean);
        metric.kept(state)
    }

    /// Reads what [`Expansion::kept`] has kept.
    pub fn restored(state: &State, features: usize, outputs: usize) -> Result<Self, LearningError> {
        let (bandwidth, exponent) = (state.value("bandwidth")?, state.value("exponent")?);
        if !(bandwidth > 0.0 && exponent > 0.0 && exponent <= 2.0) {
            let problem = "must be positive, and the exponent at most 2".to_owned();
            return Err(LearningError::State { name: "bandwidth".to_owned(), problem });
        }
        let kernel = Radial { bandwidth, exponent };
        let centre = state.array_of::<f64, Ix1>("centre", features)?;
        let points = state.array::<f64, Ix2>("points")?;
        let (n, r) = points.dim();
        let metric = InputMetric::restored(state, features)?;
        if metric.rank() != r {
            let problem = format!("have {r} columns where the metric has {}", metric.rank());
            return Err(LearningError::State { name: "points".to_owned(), problem });
        }
        let alpha = state.array_of::<f64, Ix2>("coefficients", (n, outputs))?;
        let mean = state.array_of::<f64, Ix1>("mean", outputs)?;
        Ok(Self { kernel, metric, centre, points: Points::new(points), alpha, mean })
    }
}

/// A regression in its metric.
pub(super) struct Machine {
    pub task: Task,
    pub expansion: Expansion,
}

impl Predictor for Machine {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        self.expansion.metric.features()
    }

    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        self.expansion.at(inputs)
    }

    fn state(&self) -> State {
        self.expansion.kept(State::new().with("task", self.task))
    }
}
