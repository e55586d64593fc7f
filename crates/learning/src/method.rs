use crate::{
    Convergence, ConvergenceHint, Fitted, Fitting, LearningError, Predictor, RowChunks, Sample,
    Setting, Settings, Shape, Space, State, Task, Warning, nearest,
};

/// A way to fit, with its settings checked: it holds no data.
///
/// ```
/// use mercer_learning::{
///     Convergence, Fitted, Fitting, Learner, LearningError, Outcome, Predictor, Sample, State, Task,
/// };
/// use ndarray::{Array2, ArrayView2, array};
/// /// Predicts the largest target that it has seen.
/// struct Largest;
/// struct Constant(f64, usize);
/// impl Learner for Largest {
///     fn fit(&self, sample: &Sample, _: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
///         let values = sample.values().into_iter().flatten();
///         let largest = values.copied().fold(f64::NEG_INFINITY, f64::max);
///         let predictor = Constant(largest, sample.features());
///         Ok(Outcome { predictor, convergence: Convergence::Exact, facts: [].into() }.boxed())
///     }
/// }
/// impl Predictor for Constant {
///     fn task(&self) -> Task { Task::Regression }
///     fn features(&self) -> usize { self.1 }
///     fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
///         Array2::from_elem((inputs.nrows(), 1), self.0)
///     }
///     fn state(&self) -> State { State::new().with("largest", self.0).with("width", self.1) }
/// }
/// let sample = Sample::regression(array![[0.0], [1.0]], array![2.0, 5.0])?;
/// let fitted = Largest.fit(&sample, &mut Fitting::seeded(1))?;
/// let said = fitted.predictor.predict(array![[9.0]].view())?;
/// assert_eq!(said, mercer_learning::Predictions::Real(vec![5.0]));
/// assert!(fitted.predictor.predict(array![[f64::NAN]].view()).is_err());
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
pub trait Learner: Send + Sync {
    /// Fits a predictor to the sample; the learner's settings do not change.
    ///
    /// # Errors
    /// If the sample cannot be learned from, the numbers fail, or a limit is reached.
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError>;

    /// Fits to rows that are read in passes; with one window, what [`Learner::fit`] gives.
    ///
    /// # Errors
    /// [`LearningError::NotInPasses`] if the method needs all rows at once and one window does not
    /// hold them; else as [`Learner::fit`].
    fn fit_chunks(
        &self,
        windows: &mut dyn RowChunks,
        fitting: &mut Fitting<'_>,
    ) -> Result<Fitted, LearningError> {
        let (rows, held) = (windows.shape().rows, windows.size());
        if rows > held {
            return Err(LearningError::NotInPasses { rows, held });
        }
        self.fit(&windows.next()?, fitting)
    }

    /// Returns whether [`Learner::fit`] uses [`Sample::weights`] exactly. A row of weight 2 then counts as two equal
    /// rows. A learner that does not must be handed none; [`crate::conformance`] holds the others to their word.
    fn weighs_rows(&self) -> bool {
        false
    }

    /// Returns whether [`Learner::fit`] leaves rows that are mostly 0 as they are ([`Sample::matrix`]), so that it needs
    /// memory for what is not 0 only.
    fn keeps_sparse(&self) -> bool {
        false
    }
}

/// The tasks that a method can do.
///
/// ```
/// use mercer_learning::{Task, Tasks};
/// assert!(Tasks::Both.include(Task::Regression));
/// assert!(!Tasks::Regression.include(Task::Classification { classes: 3 }));
/// assert_eq!(Tasks::Both.name(), "classification, regression");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tasks {
    /// Classes only.
    Classification,
    /// Real targets only.
    Regression,
    /// Either.
    Both,
}

impl Tasks {
    /// Returns whether `task` is among them.
    pub const fn include(self, task: Task) -> bool {
        matches!(
            (self, task),
            (Self::Both, _)
                | (Self::Classification, Task::Classification { .. })
                | (Self::Regression, Task::Regression)
        )
    }

    /// As `mercer list methods` prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Classification => "classification",
            Self::Regression => "regression",
            Self::Both => "classification, regression",
        }
    }
}

/// Leading terms of a method's cost. They are in `n` rows, `d` columns, `D` features, `K` outputs, `b` rows of a batch,
/// `n_test` test rows, and the method's own settings by name. `map.fourier` is 1 where the setting `map` is `fourier`,
/// else 0.
///
/// A product is written without a sign or with `·`; `given(pairs, n)` is `n` where the setting `pairs` has no
/// value; names of its own are explained after commas: `3 epochs n P, P = 16 d + 768`. The cost model reads `fit` and `memory`; `predict` is for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Time of a fit.
    pub fit: &'static str,
    /// Time of a prediction, a row.
    pub predict: &'static str,
    /// Memory of a fit.
    pub memory: &'static str,
}

/// A function that makes one thing of another, or says why it cannot.
type Making<From, To> = dyn Fn(&From) -> Result<Box<To>, LearningError> + Sync;

/// A registered method. It holds everything that a table, the tuner and the command line need to know. Its functions
/// are borrowed, so that one that is read from a file while the program runs ([`Box::leak`]) is a method like any
/// other.
///
/// ```
/// use mercer_learning::{
///     Allowed, Convergence, Cost, Fitted, Fitting, Learner, LearningError, Method, Outcome, Parameters,
///     Predictor, Sample, Settings, Space, State, Task, Tasks, declared, parameters,
/// };
/// use ndarray::{Array2, ArrayView2, array};
/// parameters! {
///     /// Settings of the mean.
///     pub struct MeanParams {
///         /// Rows of value 0 that are added to the sample: `c ≥ 0`.
///         pub shrinkage: f64 = 0.0, Allowed::NOT_NEGATIVE;
///     }
/// }
/// /// `Σ y / (n + c)`, whatever the inputs.
/// struct Mean(f64);
/// struct Constant { value: f64, columns: usize }
/// impl Learner for Mean {
///     fn fit(&self, sample: &Sample, _: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
///         let sum: f64 = sample.values().into_iter().flatten().sum();
///         let value = sum / (sample.rows() as f64 + self.0);
///         let predictor = Constant { value, columns: sample.features() };
///         Ok(Outcome { predictor, convergence: Convergence::Exact, facts: [].into() }.boxed())
///     }
/// }
/// impl Predictor for Constant {
///     fn task(&self) -> Task { Task::Regression }
///     fn features(&self) -> usize { self.columns }
///     fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
///         Array2::from_elem((inputs.nrows(), 1), self.value)
///     }
///     fn state(&self) -> State {
///         State::new().with("value", self.value).with("columns", self.columns)
///     }
/// }
/// const METHOD: Method = Method {
///     name: "mean",
///     title: "mean",
///     summary: "the mean of the targets",
///     formula: "f(x) = Σ y / (n + c)",
///     when: "as a floor",
///     cites: "folklore",
///     revision: 1,
///     tasks: Tasks::Regression,
///     cost: Cost { fit: "n", predict: "1", memory: "1" },
///     resource: None,
///     warnings: &[],
///     settings: &declared::<MeanParams>,
///     defaults: &|_| Settings::new(),
///     user_defaults: &mercer_learning::same_as_study,
///     space: &|_| Space::default(),
///     build: &|settings| {
///         let params: MeanParams = settings.read("mean")?;
///         params.in_range()?;
///         Ok(Box::new(Mean(params.shrinkage)))
///     },
///     restore: &|state| {
///         let (value, columns) = (state.value("value")?, state.value("columns")?);
///         Ok(Box::new(Constant { value, columns }))
///     },
/// };
/// let learner = METHOD.learner(&Settings::new().with("shrinkage", 1.0), Task::Regression)?;
/// let sample = Sample::regression(array![[0.0], [1.0], [2.0]], array![1.0, 2.0, 5.0])?;
/// let predictor = learner.fit(&sample, &mut Fitting::seeded(1))?.predictor;
/// let restored = (METHOD.restore)(&predictor.state())?;
/// assert_eq!(restored.decision(array![[7.0]].view()), array![[2.0]]); // (1 + 2 + 5)/(3 + 1)
/// let careful = Method { user_defaults: &|_| Settings::new().with("shrinkage", 0.1), ..METHOD };
/// assert_eq!(careful.begun(&sample.shape()).to_string(), r#"{"shrinkage":0.1}"#);
/// let refused = METHOD.learner(&Settings::new(), Task::Classification { classes: 2 }).err().unwrap();
/// assert!(refused.to_string().starts_with("`mean` cannot do classification"));
/// let refused = METHOD.learner(&Settings::new().with("shrinkage", -1.0), Task::Regression).err().unwrap();
/// assert!(refused.to_string().contains("`shrinkage` is -1; it must be at least 0 and finite"));
/// # Ok::<(), LearningError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Method {
    /// Name in specs and on the command line, kebab-case.
    pub name: &'static str,
    /// Name in a table's head.
    pub title: &'static str,
    /// One line for `mercer list methods`.
    pub summary: &'static str,
    /// What it computes, in a line: `f(x) = the mean of y`.
    pub formula: &'static str,
    /// When to choose it, in a line.
    pub when: &'static str,
    /// Who proposed it.
    pub cites: &'static str,
    /// Raised whenever the numbers that the method gives change.
    pub revision: u32,
    /// What it can do.
    pub tasks: Tasks,
    /// What it costs.
    pub cost: Cost,
    /// The setting that scales training effort (`"epochs"`), if there is one: the tuner's rungs.
    pub resource: Option<&'static str>,
    /// Possible problems of a fit of this method. They come beside the problems of any fit ([`Method::warnings_of`]).
    pub warnings: &'static [Warning],
    /// What can be set, as the type declares it that reads it ([`crate::declared`]).
    pub settings: &'static (dyn Fn() -> Vec<Setting> + Sync),
    /// Settings of a sensible first run on standard-scaled data of this shape.
    pub defaults: &'static (dyn Fn(&Shape) -> Settings + Sync),
    /// Settings of a first run on your own table that replace study defaults. It is [`same_as_study`] where nothing is
    /// replaced.
    pub user_defaults: &'static (dyn Fn(&Shape) -> Settings + Sync),
    /// What a tuner may try on data of this shape.
    pub space: &'static (dyn Fn(&Shape) -> Space + Sync),
    /// Checks the settings and builds the learner.
    pub build: &'static Making<Settings, dyn Learner>,
    /// Rebuilds a predictor from the state that [`Predictor::state`] left. It checks every name, type and shape, and
    /// gives the same scores to the last bit.
    pub restore: &'static Making<State, dyn Predictor>,
}

impl std::fmt::Debug for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Method").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Method {
    /// Builds the learner after checking that the method can do the task.
    ///
    /// # Errors
    /// [`LearningError::Task`] or what `build` says of the settings.
    pub fn learner(
        &self,
        settings: &Settings,
        task: Task,
    ) -> Result<Box<dyn Learner>, LearningError> {
        if !self.tasks.include(task) {
            let (method, task) = (self.name.to_owned(), task.name());
            return Err(LearningError::Task { method, task });
        }
        (self.build)(settings)
    }

    /// Returns a warning about a fit with these settings that ended above its tolerance. It says which of the settings
    /// would help, and nothing of any other fit.
    ///
    /// ```
    /// use mercer_learning::{Convergence, ConvergenceHint, Settings, Task, declared, with_hints, parameters};
    /// # use mercer_learning::{Cost, Method, Space, Tasks};
    /// # const METHOD: Method = Method {
    /// #     name: "toy", title: "toy", summary: "a toy", formula: "", when: "", cites: "nobody", revision: 1,
    /// #     tasks: Tasks::Both, cost: Cost { fit: "n", predict: "1", memory: "1" }, resource: None, warnings: &[],
    /// #     settings: &Vec::new, defaults: &|_| Settings::new(), user_defaults: &mercer_learning::same_as_study,
    /// #     space: &|_| Space::default(), build: &|_| unreachable!(), restore: &|_| unreachable!(),
    /// # };
    /// parameters! {
    ///     /// Settings of a toy.
    ///     pub struct ToyParams {
    ///         /// Most steps.
    ///         pub steps: usize = 100;
    ///         /// Where it stops.
    ///         pub tolerance: f64 = 1e-3;
    ///         /// Weight of the losses.
    ///         pub cost: f64 = 1.0;
    ///     }
    /// }
    /// let toy = Method {
    ///     settings: &|| {
    ///         let hints = [("steps", ConvergenceHint::More), ("tolerance", ConvergenceHint::Larger), ("cost", ConvergenceHint::Smaller)];
    ///         with_hints(declared::<ToyParams>(), &hints)
    ///     },
    ///     ..METHOD
    /// };
    /// let settings = Settings::of(&ToyParams::default());
    /// let open = Convergence::NotConverged { iterations: 100, residual: 0.5 };
    /// assert_eq!(
    ///     toy.unconverged(open, &settings, Task::Regression).expect("it is open"),
    ///     "not converged: residual 5.0e-1 after 100 iterations; take more `steps`, or a larger \
    ///      `tolerance`, or a smaller `cost`"
    /// );
    /// assert_eq!(toy.unconverged(Convergence::Exact, &settings, Task::Regression), None);
    /// ```
    pub fn unconverged(
        &self,
        ended: Convergence,
        settings: &Settings,
        task: Task,
    ) -> Option<String> {
        let told = ended.warning()?;
        // Of columns the warning itself says what would help.
        let Convergence::NotConverged { .. } = ended else { return Some(told) };
        let (declared, idle) = ((self.settings)(), self.idle(settings, task));
        let named = |ease: ConvergenceHint| {
            let helps = declared.iter().filter(|setting| {
                let absent = settings.get(setting.name).unwrap_or(&setting.default).is_null();
                setting.eases == Some(ease) && !absent && !idle.contains(&setting.name)
            });
            helps.map(|setting| format!("`{}`", setting.name)).collect::<Vec<_>>().join(" or ")
        };
        let words = [
            ("more", ConvergenceHint::More),
            ("a larger", ConvergenceHint::Larger),
            ("a smaller", ConvergenceHint::Smaller),
        ];
        let remedies = words.map(|(word, ease)| (word, named(ease)));
        let remedies = remedies.iter().filter(|(_, names)| !names.is_empty());
        let remedies: Vec<_> = remedies.map(|(word, names)| format!("{word} {names}")).collect();
        let remedies = remedies.join(", or ");
        Some(if remedies.is_empty() { told } else { format!("{told}; take {remedies}") })
    }

    /// Returns whether its learners use weights of rows ([`Learner::weighs_rows`]), at their default settings.
    ///
    /// ```
    /// use mercer_learning::Method;
    /// /// Methods for a table whose rows have weights.
    /// fn able(methods: &[Method]) -> Vec<&str> {
    ///     methods.iter().filter(|method| method.weighs_rows()).map(|method| method.name).collect()
    /// }
    /// assert!(able(&[]).is_empty());
    /// ```
    pub fn weighs_rows(&self) -> bool {
        let classes = self.tasks.include(Task::Classification { classes: 2 });
        let task = if classes { Task::Classification { classes: 2 } } else { Task::Regression };
        let settings = (self.defaults)(&Shape { rows: 100, features: 2, task });
        self.learner(&settings, task).is_ok_and(|learner| learner.weighs_rows())
    }

    /// Returns settings of a first run on your own table. They are the defaults, overridden by `user_defaults`.
    pub fn begun(&self, shape: &Shape) -> Settings {
        (self.defaults)(shape).overridden_by(&(self.user_defaults)(shape))
    }

    /// Returns its class name in the Python package for a task. It is words in a row, abbreviations in capitals.
    ///
    /// ```
    /// # use mercer_learning::{Cost, LearningError, Method, Settings, Space, Task, Tasks};
    /// # const METHOD: Method = Method {
    /// #     name: "mean", title: "mean", summary: "the mean", formula: "", when: "", cites: "folklore", revision: 1,
    /// #     tasks: Tasks::Regression, cost: Cost { fit: "n", predict: "1", memory: "1" }, resource: None, warnings: &[],
    /// #     settings: &Vec::new, defaults: &|_| Settings::new(), user_defaults: &mercer_learning::same_as_study,
    /// #     space: &|_| Space::default(), build: &|_| Err(LearningError::Interrupted),
    /// #     restore: &mercer_learning::never_kept,
    /// # };
    /// let method = Method { name: "hyper-krr", ..METHOD };
    /// assert_eq!(method.class_name(Task::Regression), "HyperKRRRegressor");
    /// ```
    pub fn class_name(&self, task: Task) -> String {
        const CAPITALS: [&str; 23] = [
            "sk", "nsk", "skl", "nskl", "askl", "rf", "sgd", "rftk", "gmce", "mce", "erm", "cv",
            "cen", "cnn", "krr", "svr", "svm", "kta", "bmkl", "mikl", "dank", "mlp", "rfm",
        ];
        let words = self.name.split('-').map(|word| {
            let kept = if CAPITALS.contains(&word) { word.len() } else { 1 };
            let (first, rest) = word.split_at(kept.min(word.len()));
            first.to_uppercase() + rest
        });
        let kind = if task == Task::Regression { "Regressor" } else { "Classifier" };
        words.collect::<String>() + kind
    }

    /// Returns the settings that a user gave, as they are meant. A given setting removes the setting that would be used
    /// in its place ([`crate::replacing`]), unless that was given too.
    pub fn as_meant(&self, given: &Settings) -> Settings {
        let replaced = (self.settings)().into_iter().filter_map(|setting| {
            let other = setting.replaces.filter(|other| given.get(other).is_none())?;
            given.get(setting.name).map(|_| other)
        });
        replaced.fold(given.clone(), |all, other| all.with(other, None::<f64>))
    }
}

/// Replaces nothing, for a [`Method`] whose first run takes the study's settings. The run is on your own table.
///
/// ```
/// use mercer_learning::{Shape, Task, same_as_study};
/// let shape = Shape { rows: 100, features: 3, task: Task::Regression };
/// assert!(same_as_study(&shape).is_empty());
/// ```
pub const fn same_as_study(_: &Shape) -> Settings {
    Settings::new()
}

/// Returns the method of that name.
///
/// ```
/// use mercer_learning::{Method, find};
/// # const METHODS: &[Method] = &[];
/// let error = find(METHODS, "kernel-ridge").unwrap_err(); // of a registry without it
/// assert!(error.to_string().contains("unknown method `kernel-ridge`"));
/// ```
///
/// # Errors
/// [`LearningError::UnknownMethod`], with the nearest names that exist.
pub fn find<'a>(methods: &'a [Method], name: &str) -> Result<&'a Method, LearningError> {
    methods.iter().find(|method| method.name == name).ok_or_else(|| {
        let known: Vec<&str> = methods.iter().map(|method| method.name).collect();
        // Or one that has a whole word of it: `@sklearn-forest` for `random-forest`.
        let has_word = |known: &&str| {
            name.split(['-', '_', ' ']).any(|word| word.len() > 3 && known.contains(word))
        };
        let near = nearest(name, &known).or_else(|| known.iter().copied().find(has_word));
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        LearningError::UnknownMethod {
            name: name.to_owned(),
            hint: format!(
                "{near}; `mercer list methods` lists all; for a method in your own file, add --methods-from FILE"
            )
            .replace("?;", "?"),
        }
    })
}
