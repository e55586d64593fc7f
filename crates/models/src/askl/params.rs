use super::Askl;
use crate::Phases;
use linfa::ParamGuard;
use mercer_learning::{Allowed, Estimator, LearningError, Loss, Parameters, Task};
use mercer_solvers::Optimiser;
use serde::{Deserialize, Serialize};

/// Which of the paper's five methods (its Table 1).
///
/// ```
/// use mercer_learning::find;
/// use mercer_models::askl::{Kind, METHODS};
/// let kinds = [Kind::Sk, Kind::Nsk, Kind::Skl, Kind::Nskl, Kind::Askl];
/// let (learned, two): (Vec<bool>, Vec<bool>) =
///     kinds.map(|kind| (kind.learns_frequencies(), kind.non_stationary())).into_iter().unzip();
/// assert_eq!(learned, [false, false, true, true, true]);
/// assert_eq!(two, [false, true, false, true, true]); // Table 1 of the paper
/// assert!(kinds.iter().all(|kind| find(METHODS, kind.name()).is_ok()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Stationary features, drawn.
    Sk,
    /// Non-stationary features, drawn.
    Nsk,
    /// Stationary features, learned.
    Skl,
    /// Non-stationary features, learned.
    Nskl,
    /// Non-stationary features, learned, with trace norm and feature norm.
    Askl,
}

impl Kind {
    /// Returns the method's registered name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sk => "sk",
            Self::Nsk => "nsk",
            Self::Skl => "skl",
            Self::Nskl => "nskl",
            Self::Askl => "askl",
        }
    }

    /// Returns whether `φ` is the sum of two maps.
    pub const fn non_stationary(self) -> bool {
        matches!(self, Self::Nsk | Self::Nskl | Self::Askl)
    }

    /// Returns whether the frequencies are learned.
    pub const fn learns_frequencies(self) -> bool {
        matches!(self, Self::Skl | Self::Nskl | Self::Askl)
    }
}

/// Which loss.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::askl::{AsklParams, LossChoice};
/// // The text has the hinge for classes, the authors' code cross-entropy.
/// let read = |word: &str| Settings::new().with("loss", word).read::<AsklParams>("askl");
/// assert_eq!(read("auto-cross-entropy")?.loss, LossChoice::AutoCrossEntropy);
/// assert_eq!(AsklParams::default().loss, LossChoice::Auto);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("auto, auto-cross-entropy, hinge, cross-entropy, squared"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossChoice {
    /// The paper's: hinge for classes, squared for real targets.
    Auto,
    /// The authors' code's: cross-entropy for classes, squared for real targets.
    AutoCrossEntropy,
    /// Multi-class hinge; classes only.
    Hinge,
    /// Softmax cross-entropy; classes only.
    CrossEntropy,
    /// Squared distance, to the one-hot vector for classes.
    Squared,
}

/// Whether penalties are squared norms.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::askl::{AsklParams, Norms};
/// // The text squares its norms, the authors' code does not.
/// let read = |word: &str| Settings::new().with("norms", word).read::<AsklParams>("askl");
/// assert_eq!(read("unsquared")?.norms, Norms::Unsquared);
/// assert_eq!(AsklParams::default().norms, Norms::Squared);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("squared, unsquared"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Norms {
    /// `λ1 ‖W‖_F²` and `λ2 ‖φ‖_F²`, as printed.
    Squared,
    /// `λ1 ‖W‖_F` and `λ2 ‖φ(batch)‖_F`, as in the authors' code.
    Unsquared,
}

/// Whether gradients reach the output weights.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::askl::{AsklParams, ReadOut};
/// // The authors' code of ASKL does not train the read-out.
/// let read = |word: &str| Settings::new().with("read_out", word).read::<AsklParams>("askl");
/// assert_eq!(read("frozen")?.read_out, ReadOut::Frozen);
/// assert_eq!(AsklParams::default().read_out, ReadOut::Trained);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("trained, frozen"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadOut {
    /// `W` is trained.
    Trained,
    /// `W` receives no gradient, and only the threshold moves it. As in the authors' code of ASKL,
    /// `W_t = W_0 − t η λ1 U_0 V_0ᵀ`. The other four methods train `W` nevertheless.
    Frozen,
}

/// What the trace norm does to singular values (ASKL only).
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::askl::{AsklParams, Thresholding};
/// // The text stops singular values at 0, the authors' code lets them turn negative.
/// let read = |word: &str| Settings::new().with("thresholding", word).read::<AsklParams>("askl");
/// assert_eq!(read("unclipped")?.thresholding, Thresholding::Unclipped);
/// assert_eq!(AsklParams::default().thresholding, Thresholding::Clipped);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("clipped, unclipped, none"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Thresholding {
    /// They lose `η λ1` a step and stop at 0: the proximal step.
    Clipped,
    /// They lose `η λ1` a step and may turn negative, as in the authors' code.
    Unclipped,
    /// Nothing.
    None,
}

/// What `λ2` multiplies (with squared norms).
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::askl::{AsklParams, PenaltyScale};
/// // A mean does not depend on the rows of a batch, a sum does.
/// let read = |word: &str| Settings::new().with("penalty_scale", word).read::<AsklParams>("askl");
/// assert_eq!(read("batch-sum")?.penalty_scale, PenaltyScale::BatchSum);
/// assert_eq!(AsklParams::default().penalty_scale, PenaltyScale::Mean);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("mean, batch-sum"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PenaltyScale {
    /// `(1/n) ‖φ(X)‖_F²`, estimated on each batch: free of the sample's size.
    Mean,
    /// `‖φ(batch)‖_F²`, the sum over a batch.
    BatchSum,
}

/// Number format of the training.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::askl::{AsklParams, Precision};
/// // Single precision, as in the paper, unless double is asked for.
/// let read = |word: &str| Settings::new().with("precision", word).read::<AsklParams>("askl");
/// assert_eq!(read("f64")?.precision, Precision::F64);
/// assert_eq!(AsklParams::default().precision, Precision::F32);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("f32, f64"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Single precision, as in the paper.
    F32,
    /// Double precision.
    F64,
}

mercer_learning::parameters! {
    /// Settings of the five methods; the defaults are the paper's text (variant `printed`).
    ///
    /// ```
    /// use linfa::prelude::*;
    /// use mercer_models::askl::{AsklParams, Kind};
    /// use ndarray::{Array1, Array2};
    /// // Two classes: inside and outside a circle.
    /// let x = Array2::from_shape_fn((200, 2), |(i, j)| ((i * (7 + 4 * j)) as f64 * 0.37).sin());
    /// let y: Array1<usize> =
    ///     x.rows().into_iter().map(|row| usize::from(row.dot(&row) > 0.8)).collect();
    /// let params =
    ///     AsklParams { kind: Kind::Nskl, features: 100, std: 1.0, epochs: 30.0, ..Default::default() };
    /// let model = params.seeded(1).fit(&Dataset::new(x.clone(), y.clone()))?;
    /// let right = model.predict(&x).iter().zip(&y).filter(|(a, b)| a == b).count();
    /// assert!(right > 185);
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    pub struct AsklParams {
        /// Which method; not a setting, since the registry has one entry for each.
        #[serde(skip)]
        pub kind: Kind = Kind::Askl;
        /// Features `D`.
        pub features: usize = 2000, Allowed::COUNT;
        /// Standard deviation `σ` of the entries of `O` at the start, in 1/input unit:
        /// the kernel starts as `exp(−σ² ‖x − x'‖² / 2)`.
        pub std: f64 = 0.05, Allowed::POSITIVE;
        /// Standard deviation of the entries of `O'`; that of `O` if absent.
        pub std_prime: Option<f64> = None, Allowed::POSITIVE;
        /// `λ1 ≥ 0`, of the output weights' norm.
        pub lambda1: f64 = 1e-3, Allowed::NOT_NEGATIVE;
        /// `λ2 ≥ 0`, of the features' norm (ASKL only).
        pub lambda2: f64 = 1e-3, Allowed::NOT_NEGATIVE;
        /// Learning rate `η > 0`.
        pub rate: f64 = 1e-2, Allowed::POSITIVE;
        /// Passes over the training rows; a fraction rounds to whole steps.
        pub epochs: f64 = 10.0, Allowed::POSITIVE;
        /// Rows of a batch.
        pub batch: usize = 32, Allowed::COUNT;
        /// The optimiser.
        pub optimiser: Optimiser = Optimiser::Adam;
        /// Whether the two maps share their phases.
        pub phases: Phases = Phases::Shared;
        /// The loss.
        pub loss: LossChoice = LossChoice::Auto;
        /// Whether penalties are squared norms.
        pub norms: Norms = Norms::Squared;
        /// Whether the output weights are trained (ASKL only).
        pub read_out: ReadOut = ReadOut::Trained;
        /// What the trace norm does (ASKL only).
        pub thresholding: Thresholding = Thresholding::Clipped;
        /// What `λ2` multiplies.
        pub penalty_scale: PenaltyScale = PenaltyScale::Mean;
        /// Whether `f` has a learned offset, starting at 0.
        pub bias: bool = false;
        /// Number format.
        pub precision: Precision = Precision::F32;
        /// Standard deviation of the entries of `W` at the start.
        pub read_out_std: f64 = 1.0, Allowed::NOT_NEGATIVE;
    }
}

impl AsklParams {
    /// Returns the learner, after checking every setting.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn checked(self) -> Result<Askl, LearningError> {
        self.in_range()?;
        Ok(Askl::of(self))
    }

    /// The loss for a task.
    ///
    /// # Errors
    /// [`LearningError::Setting`] for a loss of classes on real targets.
    pub(super) fn loss_for(&self, task: Task) -> Result<Loss, LearningError> {
        let regression = task == Task::Regression;
        match self.loss {
            LossChoice::Squared => Ok(Loss::Squared),
            LossChoice::Auto | LossChoice::AutoCrossEntropy if regression => Ok(Loss::Squared),
            LossChoice::Hinge if regression => Err(no_regression("hinge")),
            LossChoice::CrossEntropy if regression => Err(no_regression("cross-entropy")),
            LossChoice::Auto | LossChoice::Hinge => Ok(Loss::Hinge),
            LossChoice::AutoCrossEntropy | LossChoice::CrossEntropy => Ok(Loss::CrossEntropy),
        }
    }
}

fn refused(name: &'static str, value: impl std::fmt::Display, must: &'static str) -> LearningError {
    LearningError::setting(name, value, must)
}

fn no_regression(loss: &str) -> LearningError {
    refused("loss", loss, "`squared` or `auto` for regression")
}

/// [`AsklParams`] with a seed, as linfa wants them: not checked before `fit` or `check`.
///
/// ```
/// use linfa::ParamGuard;
/// use mercer_models::askl::AsklParams;
/// let refused = AsklParams { rate: 0.0, ..Default::default() }.seeded(1).check().unwrap_err();
/// assert_eq!(refused.to_string(), "setting `rate` is 0; it must be positive and finite");
/// assert_eq!(AsklParams::default().seeded(7).check().unwrap().seed, 7);
/// ```
#[derive(Debug, Clone)]
pub struct SeededAskl(Estimator<Askl>);

impl AsklParams {
    /// For linfa's `Fit`: these settings, and the root of the random streams.
    ///
    /// ```
    /// use linfa::{DatasetBase, traits::{Fit, Predict}};
    /// use mercer_models::askl::AsklParams;
    /// use ndarray::Array;
    /// // Two points of each class, around -1 and 1.
    /// let dataset = DatasetBase::new(
    ///     Array::from_vec(vec![-1.1, -0.9, 0.9, 1.1]).into_shape_with_order((4, 1))?,
    ///     Array::from_vec(vec![0_usize, 0, 1, 1]),
    /// );
    /// let model = AsklParams { epochs: 40.0, ..Default::default() }.seeded(7).fit(&dataset)?;
    /// assert_eq!(model.predict(dataset.records()), *dataset.targets());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn seeded(self, seed: u64) -> SeededAskl {
        SeededAskl(Estimator { learner: Askl::of(self), seed })
    }
}

impl ParamGuard for SeededAskl {
    type Checked = Estimator<Askl>;
    type Error = LearningError;

    fn check_ref(&self) -> Result<&Self::Checked, Self::Error> {
        self.0.learner.params().in_range()?;
        Ok(&self.0)
    }

    fn check(self) -> Result<Self::Checked, Self::Error> {
        self.check_ref()?;
        Ok(self.0)
    }
}
