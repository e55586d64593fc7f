//! Methods that learn a metric of the inputs first, and fit another method in it.

mod methods;

pub(crate) use methods::METHODS;

use mercer_baselines::{InputMetric, RecursiveFeatureMachine, RfmParams};
use mercer_learning::{
    Allowed, Fitted, FittedKernel, Fitting, Learner, LearningError, Method, Predictor, Sample,
    State, Task,
};
use mercer_linalg::SparseRows;
use ndarray::{Array1, Array2, ArrayView2};
use std::borrow::Cow;

mercer_learning::parameters! {
    /// Settings of the metric.
    #[derive(Copy)]
    pub(crate) struct MetricParams {
        /// `p` in the metric `M^p`, where `M` is the mean outer product of the gradients of a regression. With 0 no metric
        /// is learned.
        pub power: f64 = 0.5, Allowed::between(0.0, true, 1.0, true, "between 0 and 1");
        /// Training rows that the metric is learned from at most, by seed.
        pub metric_rows: usize = 2000, Allowed::PAIR;
    }
}

/// Columns up to which the metric is a full matrix; of more it has a scale a column.
const FULL: usize = 1000;

/// Fits another learner to the rows in a learned metric.
///
/// The metric is the power `p` of the first metric that a recursive feature machine learns
/// ([`RecursiveFeatureMachine::gradient_metric`]), with the trace of the identity. Rows are mapped by its square root, so
/// that the other learner's distances are distances in the metric. Facts: what the other learner
/// says, and of a learned metric `metric-rows` and `effective-rank`, `(tr M)²/‖M‖²`.
pub(crate) struct InMetric {
    params: MetricParams,
    inner: Box<dyn Learner>,
}

impl InMetric {
    pub(crate) fn new(
        params: MetricParams,
        inner: Box<dyn Learner>,
    ) -> Result<Self, LearningError> {
        use mercer_learning::Parameters as _;
        params.in_range()?;
        Ok(Self { params, inner })
    }

    fn metric(&self, sample: &Sample, fitting: &Fitting<'_>) -> Result<InputMetric, LearningError> {
        let MetricParams { power, metric_rows } = self.params;
        let d = sample.features();
        if power == 0.0 {
            return Ok(InputMetric::identity(d));
        }
        let diagonal = d > FULL;
        let params =
            RfmParams { cap: metric_rows, leaf: metric_rows, diagonal, ..RfmParams::default() };
        let own = Fitting {
            streams: fitting.streams.child("metric"),
            threads: fitting.threads,
            limits: fitting.limits,
            every_class: fitting.every_class,
            ..Fitting::seeded(0)
        };
        let metric = RecursiveFeatureMachine::new(params)?.gradient_metric(sample, &own);
        let renamed = |error| match error {
            LearningError::Setting { name: "cap", value, must } => {
                LearningError::Setting { name: "metric_rows", value, must }
            }
            other => other,
        };
        Ok(metric.map_err(renamed)?.powered(power))
    }
}

impl Learner for InMetric {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        sample.require_two_classes()?;
        let (rows, features) = (sample.rows(), sample.features());
        let learned = self.params.power > 0.0;
        let stays_sparse = sample.is_sparse() && self.keeps_sparse() && features > FULL;
        if learned && !stays_sparse {
            fitting.limits.reserve(16 * (rows * features) as u64)?;
        }
        let metric = self.metric(sample, fitting)?;
        let mapped = if learned {
            let inputs = metric.mapped_rows(sample.matrix());
            Cow::Owned(sample.clone().with_inputs(inputs)?)
        } else {
            Cow::Borrowed(sample)
        };
        let mut fitted = self.inner.fit(&mapped, fitting)?;
        if learned {
            let seen = rows.min(self.params.metric_rows) as f64;
            for (name, value) in
                [("metric-rows", seen), ("effective-rank", metric.effective_rank())]
            {
                fitted.facts.insert(name.to_owned(), value);
            }
        }
        let inner = fitted.predictor;
        Ok(Fitted { predictor: Box::new(Mapped { metric, inner }), ..fitted })
    }

    fn keeps_sparse(&self) -> bool {
        self.inner.keeps_sparse()
    }
}

/// A predictor of mapped rows.
struct Mapped {
    metric: InputMetric,
    inner: Box<dyn Predictor>,
}

/// Rebuilds what a method `inner` fitted in a metric.
fn restored(inner: &Method, state: &State) -> Result<Box<dyn Predictor>, LearningError> {
    let metric = InputMetric::restored(state, state.value("features")?)?;
    let inner = (inner.restore)(state.part("inner")?)?;
    if inner.features() != metric.rank() {
        let (own, rank) = (inner.features(), metric.rank());
        let problem = format!("takes {own} columns where the metric has {rank}");
        return Err(LearningError::State { name: "inner".to_owned(), problem });
    }
    Ok(Box::new(Mapped { metric, inner }))
}

impl Predictor for Mapped {
    fn task(&self) -> Task {
        self.inner.task()
    }

    fn features(&self) -> usize {
        self.metric.features()
    }

    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        self.inner.decision(self.metric.mapped(inputs).view())
    }

    fn try_decision(&self, inputs: ArrayView2<'_, f64>) -> Result<Array2<f64>, LearningError> {
        self.inner.try_decision(self.metric.mapped(inputs).view())
    }

    fn sparse_decision(&self, inputs: &SparseRows) -> Option<Array2<f64>> {
        self.inner.sparse_decision(&self.metric.mapped_sparse(inputs)?)
    }

    fn probabilities(&self, inputs: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
        self.inner.probabilities(self.metric.mapped(inputs).view())
    }

    fn deviations(&self, inputs: ArrayView2<'_, f64>) -> Option<Array1<f64>> {
        self.inner.deviations(self.metric.mapped(inputs).view())
    }

    fn fitted_kernel(&self) -> Option<&dyn FittedKernel> {
        self.inner.fitted_kernel().and(Some(self))
    }

    fn state(&self) -> State {
        let state = State::new().with("features", self.metric.features());
        self.metric.kept(state).with_part("inner", self.inner.state())
    }
}

impl FittedKernel for Mapped {
    fn gram(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let inner = self.inner.fitted_kernel().expect("it was there when this one was asked for");
        inner.gram(self.metric.mapped(inputs).view())
    }

    fn mean_diagonal(&self, inputs: ArrayView2<'_, f64>) -> Option<f64> {
        self.inner.fitted_kernel()?.mean_diagonal(self.metric.mapped(inputs).view())
    }
}
