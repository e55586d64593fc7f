use super::Scalar;
use super::loops::{scaled, scaled_sum, squares, sum};
use mercer_learning::{FittedKernel, LearningError, Predictor, Sample, State, Streams, Task};
use mercer_linalg::{cos, product};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, Ix1, Ix2, s};
use rand::Rng;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// Rows that are predicted at a time: small enough to stay in cache. Every block has this many (the last one is
/// padded), so that a row's scores do not depend on the other rows.
const BLOCK: usize = 32;

/// Whether the two maps of a non-stationary feature share one phase.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::{Phases, askl::AsklParams};
/// // With phases apart from each other, half a stationary kernel is all that is left.
/// let read = |word: &str| Settings::new().with("phases", word).read::<AsklParams>("askl");
/// assert_eq!(read("independent")?.phases, Phases::Independent);
/// assert_eq!(AsklParams::default().phases, Phases::Shared);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("shared, independent"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phases {
    /// `b' = b`: in expectation the non-stationary kernel.
    Shared,
    /// `b'` apart from `b`: in expectation half a stationary kernel.
    Independent,
}

/// `f(x) = Wᵀ φ(x) + c`, `φ(x) = scale · Σ_maps cos(Oᵀ x + b)`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Model<F> {
    pub maps: usize,
    pub scale: f64,
    pub frequencies: Array2<F>,
    pub phases: Array1<F>,
    pub read_out: Array2<F>,
    pub offset: Array1<F>,
}

/// How a model's parameters are drawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Start {
    /// Features `D`.
    pub features: usize,
    /// Deviation of the frequencies of each map: one or two.
    pub deviations: Vec<f64>,
    /// Phases of the second map.
    pub phases: Phases,
    /// Deviation of the entries of `W`.
    pub read_out_deviation: f64,
}

impl Start {
    /// Finds what ended a training that began here. No rate corrects features that were no numbers before the first
    /// step.
    pub fn cause<F: Scalar>(
        &self,
        error: LearningError,
        sample: &Sample,
        streams: &Streams,
    ) -> LearningError {
        if !matches!(error, LearningError::Diverged { loss, .. } if !loss.is_finite()) {
            return error;
        }
        let drawn = Model::<F>::draw(self, sample.features(), sample.task().outputs(), streams);
        if drawn.is_finite_on(sample.inputs()) {
            return error;
        }
        let (first, second) = (self.deviations[0], self.deviations.get(1));
        let (name, std) = match second {
            Some(&second) if second > first => ("std_prime", second),
            _ => ("std", first),
        };
        LearningError::overflow("the features", Model::<F>::precision(), name, std, sample)
    }
}

impl<F: Scalar> Model<F> {
    /// Draws `O ~ N(0, σ²)`, `b ~ U[0, 2π)`, `W ~ N(0, s²)` for `d` inputs and `K` outputs.
    ///
    /// `O` is drawn before `O'` and `b` before `b'`, so that methods with one and with two maps
    /// share the first. The scale is `√(2/D)` with one map, `1/√(2D)` with two.
    pub fn draw(start: &Start, d: usize, k: usize, streams: &Streams) -> Self {
        let (big_d, maps) = (start.features, start.deviations.len());
        let mut rng = streams.rng("frequencies");
        let mut frequencies = Array2::zeros((d, maps * big_d));
        for (map, &deviation) in start.deviations.iter().enumerate() {
            let mut half = frequencies.slice_mut(s![.., map * big_d..(map + 1) * big_d]);
            half.map_inplace(|o| *o = F::of(deviation * rng.sample::<f64, _>(StandardNormal)));
        }
        let mut rng = streams.rng("phases");
        let mut phases: Array1<F> =
            (0..maps * big_d).map(|_| F::of(rng.gen_range(0.0..TAU))).collect();
        if maps == 2 && start.phases == Phases::Shared {
            let (first, mut second) = phases.view_mut().split_at(Axis(0), big_d);
            second.assign(&first);
        }
        let mut rng = streams.rng("read-out");
        let mut normal = || F::of(start.read_out_deviation * rng.sample::<f64, _>(StandardNormal));
        let read_out = Array2::from_shape_simple_fn((big_d, k), &mut normal);
        let scale = (2.0 / big_d as f64).sqrt() / maps as f64;
        Self { maps, scale, frequencies, phases, read_out, offset: Array1::zeros(k) }
    }

    /// Returns the number of features `D`.
    pub fn features(&self) -> usize {
        self.read_out.nrows()
    }

    /// Returns the number of outputs `K`.
    pub fn outputs(&self) -> usize {
        self.read_out.ncols()
    }

    /// Returns the number of inputs `d`.
    pub fn inputs(&self) -> usize {
        self.frequencies.nrows()
    }

    /// Writes `φ(x)` of each row of `x` (`b × d`) to `phi` (`b × D`); `angles` is room for `b`
    /// rows of `maps · D`.
    fn features_of(
        &self,
        x: ArrayView2<'_, F>,
        mut angles: ArrayViewMut2<'_, F>,
        mut phi: ArrayViewMut2<'_, F>,
    ) {
        let (big_d, scale) = (self.features(), F::of(self.scale));
        product(F::one(), x, self.frequencies.view(), F::zero(), angles.view_mut());
        let mut cosines = vec![F::zero(); self.phases.len()];
        let mut shifted = cosines.clone();
        let phases = self.phases.as_slice().expect("contiguous");
        for (row, mut phi) in angles.rows().into_iter().zip(phi.rows_mut()) {
            sum(row.to_slice().expect("contiguous"), phases, &mut shifted);
            cos(&shifted, &mut cosines);
            let phi = phi.as_slice_mut().expect("contiguous");
            let (first, second) = cosines.split_at(big_d);
            if second.is_empty() {
                scaled(scale, first, phi);
            } else {
                scaled_sum(scale, first, second, phi);
            }
        }
    }

    /// Visits `φ` of the rows of `inputs` block by block: the row of the first, and `b × D`.
    fn each_block(
        &self,
        inputs: ArrayView2<'_, f64>,
        mut visit: impl FnMut(usize, ArrayView2<'_, F>, usize),
    ) {
        let mut x = Array2::zeros((BLOCK, self.inputs()));
        let mut angles = Array2::zeros((BLOCK, self.phases.len()));
        let mut phi = Array2::zeros((BLOCK, self.features()));
        for (index, rows) in inputs.axis_chunks_iter(Axis(0), BLOCK).enumerate() {
            let used = rows.nrows();
            x.slice_mut(s![..used, ..]).zip_mut_with(&rows, |x, &value| *x = F::of(value));
            x.slice_mut(s![used.., ..]).fill(F::zero());
            self.features_of(x.view(), angles.view_mut(), phi.view_mut());
            visit(index * BLOCK, phi.view(), used);
        }
    }

    /// Returns `φ(x)` of each row, `n × D`.
    pub fn feature_matrix(&self, inputs: ArrayView2<'_, f64>) -> Array2<F> {
        let mut features = Array2::zeros((inputs.nrows(), self.features()));
        self.each_block(inputs, |first, phi, used| {
            let rows = s![first..first + used, ..];
            features.slice_mut(rows).assign(&phi.slice(s![..used, ..]));
        });
        features
    }

    /// Returns whether all features of all rows are numbers.
    pub fn is_finite_on(&self, inputs: ArrayView2<'_, f64>) -> bool {
        let mut finite = true;
        self.each_block(inputs, |_, phi, used| {
            let rows = phi.slice(s![..used, ..]);
            finite &= rows.iter().all(|entry| entry.wide().is_finite());
        });
        finite
    }

    /// Returns the share of angles `o_j · x` with floating-point neighbours a radian away. The cosine of such an angle
    /// hangs on rounding alone.
    pub fn lost_angles(&self, inputs: ArrayView2<'_, f64>) -> f64 {
        let radian = F::epsilon().wide().recip();
        let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let frequency = largest(&mut self.frequencies.iter().map(|o| o.wide().abs()));
        let lengths = inputs.rows().into_iter().map(|x| x.iter().map(|x| x.abs()).sum());
        // Hölder's inequality: mostly all is said without a product.
        if frequency * largest(&mut lengths.into_iter()) < radian {
            return 0.0;
        }
        let mut lost = 0usize;
        for rows in inputs.axis_chunks_iter(Axis(0), BLOCK) {
            let x = rows.mapv(F::of);
            let mut angles = Array2::zeros((rows.nrows(), self.phases.len()));
            product(F::one(), x.view(), self.frequencies.view(), F::zero(), angles.view_mut());
            let sizes = angles.iter().map(|angle| angle.wide().abs());
            lost += sizes.filter(|size| size.is_nan() || *size >= radian).count();
        }
        lost as f64 / (inputs.nrows() * self.phases.len()) as f64
    }

    /// Returns the number format.
    pub const fn precision() -> &'static str {
        if size_of::<F>() == size_of::<f32>() { "single" } else { "double" }
    }

    /// Returns the mean `‖φ(x)‖²` over the rows.
    pub fn mean_feature_norm(&self, inputs: ArrayView2<'_, f64>) -> f64 {
        let mut total = 0.0;
        self.each_block(inputs, |_, phi, used| {
            for row in phi.rows().into_iter().take(used) {
                total += squares(row.to_slice().expect("contiguous"));
            }
        });
        total / inputs.nrows() as f64
    }

    /// Returns the mean `‖φ(x)‖²` over rows that count by their weights.
    pub fn weighted_feature_norm(&self, inputs: ArrayView2<'_, f64>, weights: &Array1<f64>) -> f64 {
        let mut total = 0.0;
        self.each_block(inputs, |first, phi, used| {
            for (row, phi) in phi.rows().into_iter().take(used).enumerate() {
                total += weights[first + row] * squares(phi.to_slice().expect("contiguous"));
            }
        });
        total / weights.sum()
    }

    /// Returns the mean diagonal `k(x, x)` of the kernel that the features stand for. It is in expectation over the
    /// phases: `(1/D) Σ_j (1 + cos((w_j − w'_j)ᵀ x))/2` with two maps of shared phases, 1/2 with independent ones. With
    /// one map it is 1 (one half if the scale is `1/√D`, not `√(2/D)`).
    pub fn mean_kernel_diagonal(&self, inputs: ArrayView2<'_, f64>) -> f64 {
        let big_d = self.features();
        if self.maps == 1 {
            let norm = self.scale * self.scale * big_d as f64 / 2.0;
            // Exactly 1 with the scale √(2/D), whatever its rounding.
            return if (norm - 1.0).abs() < 1e-12 { 1.0 } else { norm };
        }
        let (phases, phases_prime) = self.phases.view().split_at(Axis(0), big_d);
        if phases != phases_prime {
            return 0.5;
        }
        let (o, o_prime) = self.frequencies.view().split_at(Axis(1), big_d);
        let difference = &o - &o_prime;
        let mut total = 0.0;
        for rows in inputs.axis_chunks_iter(Axis(0), BLOCK) {
            let x = rows.mapv(F::of);
            let mut angles = Array2::zeros((rows.nrows(), big_d));
            product(F::one(), x.view(), difference.view(), F::zero(), angles.view_mut());
            let mut cosines = vec![F::zero(); big_d];
            for row in angles.rows() {
                cos(row.to_slice().expect("contiguous"), &mut cosines);
                total += cosines.iter().map(|c| c.wide()).sum::<f64>() / big_d as f64;
            }
        }
        0.5 + 0.5 * total / inputs.nrows() as f64
    }

    /// Returns `f(x)` of each row.
    pub fn scores(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut scores = Array2::zeros((inputs.nrows(), self.outputs()));
        let mut block = Array2::zeros((BLOCK, self.outputs()));
        self.each_block(inputs, |first, phi, used| {
            self.read(phi, &mut block, &mut scores.slice_mut(s![first..first + used, ..]));
        });
        scores
    }

    /// Returns the scores of rows with these features (`n × D`), to the bit those of [`Model::scores`].
    pub fn scores_of(&self, features: &Array2<F>) -> Array2<f64> {
        let mut scores = Array2::zeros((features.nrows(), self.outputs()));
        let mut phi = Array2::zeros((BLOCK, self.features()));
        let mut block = Array2::zeros((BLOCK, self.outputs()));
        let blocks = features.axis_chunks_iter(Axis(0), BLOCK);
        for (rows, mut target) in blocks.zip(scores.axis_chunks_iter_mut(Axis(0), BLOCK)) {
            phi.slice_mut(s![..rows.nrows(), ..]).assign(&rows);
            self.read(phi.view(), &mut block, &mut target);
        }
        scores
    }

    /// Writes the scores of the first rows of a block of features.
    fn read(&self, phi: ArrayView2<'_, F>, block: &mut Array2<F>, to: &mut ArrayViewMut2<'_, f64>) {
        product(F::one(), phi, self.read_out.view(), F::zero(), block.view_mut());
        *block += &self.offset;
        to.zip_mut_with(&block.slice(s![..to.nrows(), ..]), |to, from| *to = from.wide());
    }

    /// Returns `W` in double precision.
    pub fn wide_read_out(&self) -> Array2<f64> {
        self.read_out.mapv(F::wide)
    }
}

/// A fitted spectral model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spectral<F> {
    pub model: Model<F>,
    pub task: Task,
    /// The scores are log-odds that a cross-entropy has fitted, so that their softmax are
    /// probabilities.
    pub softmax: bool,
}

/// What the state of a fitted spectral model stands for, in the precision in which it was trained.
pub(crate) fn restore(state: &State) -> Result<Box<dyn Predictor>, LearningError> {
    Ok(if state.holds::<f32>("frequencies") {
        Box::new(Spectral::<f32>::restored(state)?)
    } else {
        Box::new(Spectral::<f64>::restored(state)?)
    })
}

impl<F: Scalar> Spectral<F> {
    fn restored(state: &State) -> Result<Self, LearningError> {
        let (task, maps): (Task, usize) = (state.value("task")?, state.value("maps")?);
        let scale: f64 = state.value("scale")?;
        let wrong = |name: &str, problem: &str| LearningError::State {
            name: name.to_owned(),
            problem: problem.to_owned(),
        };
        if !(1..=2).contains(&maps) {
            return Err(wrong("maps", "must be 1 or 2"));
        }
        if !(scale > 0.0 && scale.is_finite()) {
            return Err(wrong("scale", "must be positive and finite"));
        }
        let read_out = state.array::<F, Ix2>("read_out")?;
        let (big_d, k) = read_out.dim();
        if big_d == 0 || k != task.outputs() {
            return Err(wrong("read_out", "must have features and a column for each output"));
        }
        let frequencies = state.array::<F, Ix2>("frequencies")?;
        let d: usize = state.value("inputs")?;
        if frequencies.dim() != (d, maps * big_d) {
            return Err(wrong("frequencies", "do not belong to the read-out"));
        }
        let phases = state.array_of::<F, Ix1>("phases", maps * big_d)?;
        let offset = state.array_of::<F, Ix1>("offset", k)?;
        Ok(Self {
            model: Model { maps, scale, frequencies, phases, read_out, offset },
            task,
            softmax: state.value("softmax")?,
        })
    }
}

impl<F: Scalar> Predictor for Spectral<F> {
    fn task(&self) -> Task {
        self.task
    }
    fn features(&self) -> usize {
        self.model.inputs()
    }
    fn state(&self) -> State {
        State::new()
            .with("task", self.task)
            .with("softmax", self.softmax)
            .with("maps", self.model.maps)
            .with("scale", self.model.scale)
            .with("inputs", self.model.inputs())
            .with_array("frequencies", &self.model.frequencies)
            .with_array("phases", &self.model.phases)
            .with_array("read_out", &self.model.read_out)
            .with_array("offset", &self.model.offset)
    }
    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        self.model.scores(inputs)
    }
    fn fitted_kernel(&self) -> Option<&dyn FittedKernel> {
        Some(self)
    }
    fn probabilities(&self, inputs: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
        self.softmax.then(|| {
            let mut shares = self.model.scores(inputs);
            for mut row in shares.rows_mut() {
                let largest = row.fold(f64::NEG_INFINITY, |largest, &score| largest.max(score));
                row.mapv_inplace(|score| (score - largest).exp());
                let total = row.sum();
                row.mapv_inplace(|share| share / total);
            }
            shares
        })
    }
}

/// `φ(x)ᵀ φ(z)` of the fitted features.
impl<F: Scalar> FittedKernel for Spectral<F> {
    fn gram(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let phi = self.model.feature_matrix(inputs).mapv(F::wide);
        phi.dot(&phi.t())
    }
    fn features(&self, inputs: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
        Some(self.model.feature_matrix(inputs).mapv(F::wide))
    }
    fn mean_diagonal(&self, inputs: ArrayView2<'_, f64>) -> Option<f64> {
        (inputs.nrows() > 0).then(|| self.model.mean_feature_norm(inputs))
    }
    fn frequencies(&self) -> Option<[Array2<f64>; 2]> {
        let all = self.model.frequencies.mapv(F::wide);
        let (first, second) = all.view().split_at(Axis(1), self.model.features());
        let second = if self.model.maps == 2 { second } else { first };
        Some([first.to_owned(), second.to_owned()])
    }
}
