use super::map::{MOST_DEGREE, too_steep};
use super::{BatchOrder, EmbeddingLearner, Form, Objective, Sensitivity, refused};
use mercer_kernels::{Covariance, Smoothness};
use mercer_learning::{Allowed, Condition, LearningError, Parameters, Where};
use serde::{Deserialize, Serialize};

/// Which kernel: by name, its parameters set by the other settings; or all of it.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::mce::{EmbeddingParams, KernelChoice, KernelName};
/// use serde_json::{Value, json};
/// let read = |kernel: Value| Settings::new().with("kernel", kernel).read::<EmbeddingParams>("mce");
/// assert_eq!(read(json!("linear"))?.kernel, KernelChoice::Named(KernelName::Linear));
/// let given = json!({ "kind": "gaussian", "scale": 1.0, "lengths": [1.0, 2.0] });
/// assert!(matches!(read(given)?.kernel, KernelChoice::Given(_)));
/// assert!(read(json!("gausian")).unwrap_err().to_string().contains("gaussian"));
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "the kernel must be `gaussian`, `matern-1/2`, `matern-3/2`, `matern-5/2`, `rational-quadratic`, `linear`, `polynomial`, or one with its parameters, as in {\"kind\": \"gaussian\", \"scale\": 1, \"lengths\": [1, 2]}, or a `sum` or `product` of such, as in {\"kind\": \"sum\", \"of\": [{\"kind\": \"gaussian\", \"scale\": 1, \"lengths\": [1]}, {\"kind\": \"linear\", \"scale\": 1}]}"
)]
pub enum KernelChoice {
    /// One of the simple kernels.
    Named(KernelName),
    /// A kernel with its parameters: sums and products as well.
    Given(Covariance),
}

/// The simple kernels.
///
/// ```
/// use mercer_models::mce::KernelName;
/// let read = |text: &str| serde_json::from_str::<KernelName>(text);
/// assert_eq!(read(r#""matern-3/2""#)?, KernelName::MaternThreeHalves);
/// assert_eq!(serde_json::to_string(&KernelName::RationalQuadratic)?, r#""rational-quadratic""#);
/// assert!(read(r#""matern-7/2""#).is_err()); // half-integers up to 5/2
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelName {
    /// Gaussian.
    Gaussian,
    /// Matérn, `ν = 1/2`.
    #[serde(rename = "matern-1/2")]
    MaternHalf,
    /// Matérn, `ν = 3/2`.
    #[serde(rename = "matern-3/2")]
    MaternThreeHalves,
    /// Matérn, `ν = 5/2`.
    #[serde(rename = "matern-5/2")]
    MaternFiveHalves,
    /// Rational quadratic, from `a = 1`.
    RationalQuadratic,
    /// Linear.
    Linear,
    /// Polynomial of the setting `degree`, from `c = 1`.
    Polynomial,
}

/// How the features are written down.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::mce::{EmbeddingParams, FeatureForm};
/// // Without features the Gram matrix is solved: Algorithm 1.
/// let read = |word: &str| Settings::new().with("map", word).read::<EmbeddingParams>("mce");
/// assert_eq!(read("monomials")?.map, FeatureForm::Monomials);
/// assert_eq!(EmbeddingParams::default().map, FeatureForm::Implicit);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("implicit, monomials, fourier"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureForm {
    /// Not at all: Algorithm 1, with the Gram matrix.
    Implicit,
    /// All monomials of a polynomial kernel: Algorithm 2.
    Monomials,
    /// Random Fourier features of a Gaussian kernel: Algorithm 2.
    Fourier,
}

/// How `θ` and `λ` are found.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::mce::{EmbeddingParams, Learning};
/// // The paper learns by its bound; its rival by folds.
/// let read = |word: &str| Settings::new().with("learning", word).read::<EmbeddingParams>("mce");
/// assert_eq!(read("cross-validation")?.learning, Learning::CrossValidation);
/// assert_eq!(EmbeddingParams::default().learning, Learning::Objective);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("objective, nothing, cross-validation"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learning {
    /// By gradient steps on the objective; with `weight = 0` that is empirical risk minimisation.
    Objective,
    /// They stay as they are set.
    Nothing,
    /// By the accuracy on held-out folds, from a grid. Length scales are at the median distance of the training rows
    /// times `2^-3 … 2^3`, `λ` in `1e-6 … 1`. (The paper does not state its grid.)
    CrossValidation,
}

/// Of what the median is taken where no length scale is set.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::mce::{EmbeddingParams, MedianOf};
/// // The printed column MED is of columns, without a guard against a median of 0.
/// let read = |word: &str| Settings::new().with("median", word).read::<EmbeddingParams>("mce");
/// assert_eq!(read("columns-unguarded")?.median, MedianOf::ColumnsUnguarded);
/// assert_eq!(EmbeddingParams::default().median, MedianOf::Rows);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("rows, columns, columns-unguarded"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MedianOf {
    /// Of the distances of rows: one length for all columns.
    Rows,
    /// Of the differences in each column by itself: a length for each column. Where half of them are 0, it is the
    /// smallest other one.
    Columns,
    /// The same without that care for zeros. Where half of the differences are 0 the kernel is 0/0, and the first class
    /// is predicted everywhere, as the largest of numbers that are none. The printed column MED of the paper is made
    /// like this.
    ColumnsUnguarded,
}

mercer_learning::parameters! {
    /// Settings of a conditional mean embedding. All methods of the paper that are not networks are
    /// settings of this one model.
    ///
    /// The defaults are the paper's protocol with the objective of its code: an anisotropic Gaussian
    /// kernel, everything starts at 1, Adam at rate 0.1 for 1000 epochs on all rows at once, summed
    /// losses.
    ///
    /// ```
    /// use mercer_models::mce::{EmbeddingParams, Form};
    /// let objective = EmbeddingParams::default().objective();
    /// assert_eq!((objective.form, objective.weight), (Form::Sum, 4.0 * std::f64::consts::E)); // τ = 4e
    /// let risk = EmbeddingParams { weight: Some(0.0), ..Default::default() }; // the empirical risk
    /// assert_eq!(risk.checked()?.params().objective().weight, 0.0);
    /// let refused = EmbeddingParams { lambda: 0.0, ..Default::default() }.checked().unwrap_err();
    /// assert_eq!(refused.to_string(), "setting `lambda` is 0; it must be positive and finite");
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    pub struct EmbeddingParams {
        /// The kernel.
        pub kernel: KernelChoice = KernelChoice::Named(KernelName::Gaussian) => "gaussian, matern-1/2, matern-3/2, matern-5/2, rational-quadratic, linear, polynomial, or JSON of a kernel";
        /// Whether each column has its own length scale (named kernels).
        pub anisotropic: bool = true;
        /// `s > 0` at the start (named kernels).
        pub scale: f64 = 1.0, Allowed::POSITIVE;
        /// `ℓ > 0` at the start, in input units (named kernels); the median distance of the training
        /// rows if absent.
        pub length: Option<f64> = Some(1.0), Allowed::POSITIVE;
        /// Of what that median is taken.
        pub median: MedianOf = MedianOf::Rows;
        /// Degree of a polynomial kernel.
        pub degree: u32 = 2, Allowed::COUNT;
        /// `λ > 0` at the start.
        pub lambda: f64 = 1.0, Allowed::POSITIVE;
        /// How the features are written down.
        pub map: FeatureForm = FeatureForm::Implicit;
        /// Random Fourier features, an even number.
        pub features: usize = 200, Allowed::PAIR;
        /// How the parameters are found.
        pub learning: Learning = Learning::Objective;
        /// Sum or mean of the losses.
        pub form: Form = Form::Sum;
        /// `τ ≥ 0`; `4e` if absent.
        pub weight: Option<f64> = None, Allowed::NOT_NEGATIVE;
        /// `ε` in `(0, 1)`.
        pub epsilon: f64 = 1e-15, Allowed::INSIDE_ONE;
        /// What stands for `α`. With `one` a kernel that has a scale leaves the complexity to that scale,
        /// which changes nothing else: the objective is then the loss alone.
        pub sensitivity: Sensitivity = Sensitivity::Supremum;
        /// Rate of Adam on the logarithms.
        pub rate: f64 = 0.1, Allowed::POSITIVE;
        /// Passes over the training rows.
        pub epochs: usize = 1000, Allowed::COUNT;
        /// Batches a pass: a batch has `⌊n/batches⌋` rows, at least one; 1 for all rows at once.
        pub batches: usize = 1, Allowed::COUNT;
        /// Rows of a batch, in place of `batches`, which then is not set; at most the training rows.
        pub batch: Option<usize> = None, Allowed::COUNT;
        /// Share of each batch on which the loss is measured and which the embedding does not see,
        /// equation (13); 0 for none.
        pub validation: f64 = 0.0, Allowed::BELOW_ONE;
        /// Where the order of the batches comes from.
        pub order: BatchOrder = BatchOrder::Seeded;
        /// Folds of cross-validation.
        pub folds: usize = 5, Allowed::PAIR;
    }
}

/// The names of kernels with length scales, and of all.
const STATIONARY: &[&str] =
    &["gaussian", "matern-1/2", "matern-3/2", "matern-5/2", "rational-quadratic"];
const NAMED: &[&str] = &[
    "gaussian",
    "matern-1/2",
    "matern-3/2",
    "matern-5/2",
    "rational-quadratic",
    "linear",
    "polynomial",
];

/// Conditions under which settings of an embedding are used.
pub(super) const CONDITIONS: &[Condition] = &[
    (&["anisotropic", "length"], &[Where::is("kernel", STATIONARY)]),
    // Medians of columns are a length each, and equal lengths that stay are one.
    (&["anisotropic"], &[Where::is("median", &["rows"])]),
    (&["anisotropic"], &[Where::is("learning", &["objective"])]),
    (&["scale"], &[Where::is("kernel", NAMED)]),
    (&["degree"], &[Where::is("kernel", &["polynomial"])]),
    (&["features"], &[Where::is("map", &["fourier"])]),
    (&["folds"], &[Where::is("learning", &["cross-validation"])]),
    (
        &["rate", "epochs", "batches", "batch", "validation", "order"],
        &[Where::is("learning", &["objective"])],
    ),
    (
        &["order"],
        &[
            Where::is_not("batches", &["1"]),
            Where::is_not("batch", &["null"]),
            Where::is_not("validation", &["0"]),
        ],
    ),
    // The grid of lengths is about the median, that of ridges is fixed.
    (&["length", "lambda", "median"], &[Where::is_not("learning", &["cross-validation"])]),
    (&["median"], &[Where::is("length", &["null"])]),
];

impl EmbeddingParams {
    /// Returns the learner, after checking every setting.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn checked(self) -> Result<EmbeddingLearner, LearningError> {
        self.check()?;
        Ok(EmbeddingLearner::of(self))
    }

    /// Returns the objective that the settings describe.
    pub fn objective(&self) -> Objective {
        Objective {
            form: self.form,
            weight: self.weight.unwrap_or(Objective::default().weight),
            epsilon: self.epsilon,
            sensitivity: self.sensitivity,
            ..Objective::default()
        }
    }

    /// The kernel at the start, for `d` columns; `medians`, one or `d`, are asked for where no length is
    /// set.
    pub(super) fn start(&self, d: usize, medians: impl FnOnce() -> Vec<f64>) -> Covariance {
        let name = match &self.kernel {
            KernelChoice::Given(kernel) => return kernel.clone(),
            KernelChoice::Named(name) => *name,
        };
        let scale = self.scale;
        let stationary = !matches!(name, KernelName::Linear | KernelName::Polynomial);
        let lengths = match self.length {
            _ if !stationary => vec![1.0],
            Some(length) => vec![length],
            None => medians(),
        };
        let lengths = match lengths[..] {
            [length] if self.anisotropic => vec![length; d],
            _ => lengths,
        };
        let matern = |smoothness, lengths| Covariance::Matern { smoothness, scale, lengths };
        match name {
            KernelName::Gaussian => Covariance::Gaussian { scale, lengths },
            KernelName::MaternHalf => matern(Smoothness::Half, lengths),
            KernelName::MaternThreeHalves => matern(Smoothness::ThreeHalves, lengths),
            KernelName::MaternFiveHalves => matern(Smoothness::FiveHalves, lengths),
            KernelName::RationalQuadratic => {
                Covariance::RationalQuadratic { scale, lengths, shape: 1.0 }
            }
            KernelName::Linear => Covariance::Linear { scale },
            KernelName::Polynomial => {
                Covariance::Polynomial { degree: self.degree, scale, offset: 1.0 }
            }
        }
    }

    /// Rows of a batch among `n`.
    pub(super) fn batch_of(&self, n: usize) -> usize {
        self.batch.unwrap_or((n / self.batches).max(1))
    }

    fn check(&self) -> Result<(), LearningError> {
        self.in_range()?;
        if self.map == FeatureForm::Fourier && self.features % 2 == 1 {
            return Err(refused(
                "features",
                self.features,
                "even: each frequency has a cosine and a sine",
            ));
        }
        if self.batch.is_some() && self.batches != 1 {
            let must = "1 where `batch` says how many rows a batch has";
            return Err(refused("batches", self.batches, must));
        }
        let named = matches!(self.kernel, KernelChoice::Named(_));
        if self.median != MedianOf::Rows && (self.length.is_some() || !named) {
            let must =
                "`rows` unless `length` is null and the kernel is a named one: no median is taken";
            let chosen =
                if self.median == MedianOf::Columns { "columns" } else { "columns-unguarded" };
            return Err(refused("median", chosen, must));
        }
        if self.median == MedianOf::ColumnsUnguarded && self.learning != Learning::Nothing {
            let must = "`rows` or `columns` where anything is learned";
            return Err(refused("median", "columns-unguarded", must));
        }
        if self.learning == Learning::CrossValidation
            && (self.map != FeatureForm::Implicit || matches!(self.kernel, KernelChoice::Given(_)))
        {
            return Err(refused(
                "learning",
                "cross-validation",
                "`objective` or `nothing` with explicit features or a given kernel",
            ));
        }
        if self.map == FeatureForm::Monomials && self.degree > MOST_DEGREE {
            return Err(too_steep(self.degree));
        }
        let fits = match (self.map, &self.kernel) {
            (FeatureForm::Implicit, _) => true,
            (FeatureForm::Monomials, KernelChoice::Named(name)) => *name == KernelName::Polynomial,
            (FeatureForm::Fourier, KernelChoice::Named(name)) => *name == KernelName::Gaussian,
            (FeatureForm::Monomials, KernelChoice::Given(kernel)) => {
                matches!(kernel, Covariance::Polynomial { .. })
            }
            (FeatureForm::Fourier, KernelChoice::Given(kernel)) => {
                matches!(kernel, Covariance::Gaussian { .. })
            }
        };
        if fits {
            Ok(())
        } else {
            let must = "`implicit`, `monomials` of a polynomial or `fourier` of a Gaussian kernel";
            Err(refused("map", format!("{:?}", self.map).to_lowercase(), must))
        }
    }
}
