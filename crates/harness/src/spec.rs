use crate::{HarnessError, PrintedGrid, Protocol, Tuner};
use mercer_learning::Settings;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// A study: the trials to run. One TOML file in `experiments/specs`.
///
/// ```
/// use mercer_harness::Spec;
/// use std::path::Path;
/// let text = r#"
/// artefact = "toy/table"
/// question = "How often is the largest class right?"
/// seed = 1
/// repeats = 30
/// datasets = ["iris", "wine"]
/// variants = [{ name = "given", summary = "as given", methods = [{ name = "majority" }] }]
/// dataset.wine = { repeats = 10 }
/// "#;
/// let spec = Spec::parse(text, Path::new("toy.toml"))?;
/// assert_eq!((spec.repeats_of_paper("iris"), spec.repeats_of_paper("wine")), (30, 10));
/// assert_eq!(spec.streams(), "toy/table"); // no other study to be paired with
/// let slip = Spec::parse(&text.replace("repeats = 30", "repeat = 30"), Path::new("toy.toml"));
/// assert!(slip.unwrap_err().to_string().starts_with("spec toy.toml: "));
/// # Ok::<(), mercer_harness::HarnessError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The artefact that the trials belong to, `askl/table2`.
    pub artefact: String,
    /// The study whose splits and random streams these trials share, if not their own. It makes an ablation paired with
    /// the table that it explains.
    #[serde(default)]
    pub paired_with: Option<String>,
    /// What the study asks.
    pub question: String,
    /// Root seed.
    pub seed: u64,
    /// The paper's number of repeats.
    pub repeats: u32,
    /// Datasets, in the order of the table.
    pub datasets: Vec<String>,
    /// What every trial shares: rows, split, scaling. Variants and datasets may override it.
    #[serde(default)]
    pub protocol: Protocol,
    /// Dataset by dataset: what differs from `protocol`.
    #[serde(default)]
    pub dataset: BTreeMap<String, DatasetRule>,
    /// Settings that the paper or its code gives for a dataset. They hold where a variant has no tuner, and are the
    /// tuner's first candidate where it has one.
    #[serde(default)]
    pub given: BTreeMap<String, Settings>,
    /// The methods that `given` speaks of; all without one.
    #[serde(default)]
    pub given_to: Vec<String>,
    /// The variants, in the order of the table.
    pub variants: Vec<Variant>,
    /// The grid that the paper says it searched. It replaces each variant's tuner for whoever asks for it.
    #[serde(default)]
    pub grid: Option<PrintedGrid>,
    /// What the profiles cut; `paper` need not be listed.
    #[serde(default)]
    pub profiles: BTreeMap<String, Profile>,
    /// Whether records keep the predictions on test rows.
    #[serde(default = "yes")]
    pub keep_predictions: bool,
    /// Seconds after which a trial is stopped, tuning included.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// Bytes above which a trial is stopped.
    #[serde(default)]
    pub bytes: Option<u64>,
}

fn yes() -> bool {
    true
}

/// The exceptions of one dataset.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// let text = format!("{STUDY}\n[dataset.iris]\nrepeats = 10\nlook_every = 5\n");
/// let spec = mercer_harness::Spec::parse(&text, std::path::Path::new("toy.toml"))?;
/// assert_eq!((spec.repeats_of_paper("iris"), spec.look_every("iris")), (10, Some(5)));
/// assert_eq!((spec.repeats_of_paper("wine"), spec.look_every("wine")), (3, None)); // no rule
/// # Ok::<(), mercer_harness::HarnessError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatasetRule {
    /// Overrides of the protocol.
    #[serde(default)]
    pub protocol: Protocol,
    /// The paper's number of repeats, where it differs.
    #[serde(default)]
    pub repeats: Option<u32>,
    /// Steps between two looks at an iterative fit; none for a dataset without curves.
    #[serde(default)]
    pub look_every: Option<usize>,
    /// Whether an evaluation of a classifier also reports the losses of classes. They are on the test rows and on the
    /// training rows looked at. Part of the key.
    #[serde(default)]
    pub look_at_losses: bool,
}

/// One way to run the study.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # let spec = mercer_harness::Spec::parse(STUDY, std::path::Path::new("toy.toml"))?;
/// # let all = mercer_harness::Selection::default();
/// # let trials = mercer_harness::plan(&spec, METHODS, "paper", &all, &|_| None)?;
/// assert_eq!(spec.variants.len(), 2);
/// assert!(spec.variants[0].tuner.is_none() && spec.variants[1].tuner.is_some());
/// assert!(spec.variants.iter().all(|variant| variant.given)); // what is given concerns both
/// let of = |name: &str| trials.iter().filter(|trial| trial.key.variant == name).count();
/// assert_eq!((of("given"), of("tuned")), (3, 3)); // every variant runs every repeat
/// # Ok::<(), mercer_harness::HarnessError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// `printed`, `released`, `tuned`, or the name of an ablation.
    pub name: String,
    /// One line for the table's notes.
    pub summary: String,
    /// Overrides of the protocol.
    #[serde(default)]
    pub protocol: Protocol,
    /// Settings of every method that knows them by that name.
    #[serde(default)]
    pub settings: Settings,
    /// Whether what the spec gives for a dataset concerns this variant.
    #[serde(default = "yes")]
    pub given: bool,
    /// How the settings that are not fixed are chosen. Absent: settings and defaults are all there is.
    #[serde(default)]
    pub tuner: Option<Tuner>,
    /// Overrides by dataset.
    #[serde(default)]
    pub dataset: BTreeMap<String, VariantRule>,
    /// Only these datasets, if given.
    #[serde(default)]
    pub datasets: Option<Vec<String>>,
    /// Repeats at most, where all would take too long. The table then shows fewer than the paper's.
    #[serde(default)]
    pub repeats: Option<u32>,
    /// The methods, in the order of the table.
    pub methods: Vec<SpecMethod>,
}

/// What a variant does differently on one dataset.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// use mercer_harness::{Selection, Spec, plan};
/// let rule = "summary = \"as given\"\ndataset.iris = { settings = { cap = 7 }, repeats = 2 }";
/// let text = STUDY.replacen("summary = \"as given\"", rule, 1);
/// let spec = Spec::parse(&text, std::path::Path::new("toy.toml"))?;
/// let trials = plan(&spec, METHODS, "paper", &Selection::default(), &|_| None)?;
/// let given: Vec<_> = trials.iter().filter(|trial| trial.key.variant == "given").collect();
/// assert_eq!(given.len(), 2);
/// assert_eq!(given[0].settings.get("cap"), Some(&7.into()));
/// # Ok::<(), mercer_harness::HarnessError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariantRule {
    /// Overrides of the protocol.
    #[serde(default)]
    pub protocol: Protocol,
    /// Overrides of the settings given for this dataset.
    #[serde(default)]
    pub settings: Settings,
    /// The search of every method here.
    #[serde(default)]
    pub tuner: Option<Tuner>,
    /// Repeats at most.
    #[serde(default)]
    pub repeats: Option<u32>,
}

/// A method in a variant.
///
/// ```
/// use mercer_harness::SpecMethod;
/// let text = "name = \"majority\"\nsettings = { cap = 50 }\ndataset.iris = { cap = 7 }";
/// let method: SpecMethod = toml::from_str(text)?;
/// assert_eq!(method.settings_on("iris").get("cap"), Some(&7.into())); // the nearer wins
/// assert_eq!(method.settings_on("wine").get("cap"), Some(&50.into()));
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpecMethod {
    /// Name in the registry.
    pub name: String,
    /// Column of the table; the method's title if absent.
    #[serde(default)]
    pub label: Option<String>,
    /// Its own settings; they override the settings of the variant and the dataset.
    #[serde(default)]
    pub settings: Settings,
    /// Datasets on which it is not run: where it would not fit, say.
    #[serde(default)]
    pub except: Vec<String>,
    /// What it has on one dataset only; overrides `settings`.
    #[serde(default)]
    pub dataset: BTreeMap<String, Settings>,
    /// The tuner's first candidate for this method, by dataset. It replaces the values that the spec gives for the
    /// dataset. Part of the key.
    #[serde(default)]
    pub first: BTreeMap<String, Settings>,
    /// Its own search, where the variant's search has too few candidates for its settings.
    #[serde(default)]
    pub tuner: Option<Tuner>,
}

impl SpecMethod {
    /// A method by its name alone.
    pub(crate) fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            label: None,
            settings: Settings::new(),
            except: Vec::new(),
            dataset: BTreeMap::new(),
            first: BTreeMap::new(),
            tuner: None,
        }
    }

    /// Returns its own settings on a dataset.
    pub fn settings_on(&self, dataset: &str) -> Settings {
        let special = self.dataset.get(dataset).cloned().unwrap_or_default();
        self.settings.clone().overridden_by(&special)
    }

    /// Returns what its tuner tries first on a dataset. The spec gives something else to the other methods.
    ///
    /// ```
    /// use mercer_harness::SpecMethod;
    /// let method: SpecMethod = toml::from_str("name = \"majority\"\nfirst.iris = { cap = 9 }")?;
    /// assert_eq!(method.first_on("iris").get("cap"), Some(&9.into()));
    /// assert!(method.first_on("wine").is_empty()); // what the spec gives, then
    /// # Ok::<(), toml::de::Error>(())
    /// ```
    pub fn first_on(&self, dataset: &str) -> Settings {
        self.first.get(dataset).cloned().unwrap_or_default()
    }
}

/// What a profile cuts.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # let spec = mercer_harness::Spec::parse(STUDY, std::path::Path::new("toy.toml"))?;
/// # let all = mercer_harness::Selection::default();
/// # let trials = mercer_harness::plan(&spec, METHODS, "paper", &all, &|_| None)?;
/// use mercer_harness::Profile;
/// assert_eq!(spec.profile("paper")?, Profile::default()); // cuts nothing
/// assert_eq!(spec.profile("smoke")?.repeats, Some(1));
/// let refused = spec.profile("smok").unwrap_err();
/// assert!(refused.to_string().starts_with("unknown profile `smok`"));
/// # Ok::<(), mercer_harness::HarnessError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Repeats at most.
    #[serde(default)]
    pub repeats: Option<u32>,
    /// Whether a tuner may run. If not, settings come from the archive of tunings, else the dataset's given settings.
    #[serde(default)]
    pub tune: Option<bool>,
    /// Cuts for every dataset.
    #[serde(default)]
    pub cut: Cut,
    /// Cuts by dataset.
    #[serde(default)]
    pub dataset: BTreeMap<String, Cut>,
    /// Only these datasets, if given.
    #[serde(default)]
    pub datasets: Option<Vec<String>>,
    /// Only these variants, if given.
    #[serde(default)]
    pub variants: Option<Vec<String>>,
}

/// How a trial is made smaller. Every cut is part of the key and makes the verdict `short`.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # let spec = mercer_harness::Spec::parse(STUDY, std::path::Path::new("toy.toml"))?;
/// # let all = mercer_harness::Selection::default();
/// # let trials = mercer_harness::plan(&spec, METHODS, "paper", &all, &|_| None)?;
/// use mercer_harness::{Selection, plan};
/// let small = plan(&spec, METHODS, "smoke", &Selection::default(), &|_| None)?;
/// assert_eq!((trials.len(), small.len()), (6, 2)); // a repeat of each variant
/// assert!(trials[0].complete && !small[0].complete); // 20 rows are not what the paper has
/// assert_ne!(trials[0].key.digest(), small[0].key.digest()); // and another record
/// # Ok::<(), mercer_harness::HarnessError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// Repeats at most.
    #[serde(default)]
    pub repeats: Option<u32>,
    /// Training rows at most.
    #[serde(default)]
    pub rows: Option<usize>,
    /// Upper limits of numeric settings, of the methods that have them.
    #[serde(default)]
    pub at_most: BTreeMap<String, f64>,
}

impl Spec {
    /// Reads a spec. TOML has no null: a setting that is the word `"null"` is one, as in
    /// `--set NAME=null`.
    ///
    /// ```
    /// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
    /// # use toys::STUDY;
    /// use mercer_harness::Spec;
    /// let rule = "summary = \"as given\"\nsettings = { cap = \"null\" }";
    /// let text = STUDY.replacen("summary = \"as given\"", rule, 1);
    /// let spec = Spec::parse(&text, std::path::Path::new("toy.toml"))?;
    /// assert!(spec.variants[0].settings.get("cap").is_some_and(|cap| cap.is_null()));
    /// # Ok::<(), mercer_harness::HarnessError>(())
    /// ```
    ///
    /// # Errors
    /// [`HarnessError::Spec`] with the line and what was expected there.
    pub fn parse(text: &str, path: &Path) -> Result<Self, HarnessError> {
        let fault = |reason: String| HarnessError::Spec { path: path.to_owned(), reason };
        let mut spec: Self = toml::from_str(text).map_err(|error| fault(error.to_string()))?;
        spec.read_nulls();
        let known = |name: &String| spec.datasets.contains(name);
        let named = spec
            .dataset
            .keys()
            .chain(spec.given.keys())
            .chain(spec.variants.iter().flat_map(|variant| variant.dataset.keys()))
            .chain(spec.variants.iter().flat_map(|variant| variant.datasets.iter().flatten()))
            .chain(spec.variants.iter().flat_map(|variant| &variant.methods).flat_map(|method| {
                method.dataset.keys().chain(method.first.keys()).chain(&method.except)
            }))
            .chain(spec.profiles.values().flat_map(|profile| profile.dataset.keys()));
        let variants = spec.profiles.values().flat_map(|profile| profile.variants.iter().flatten());
        for name in variants {
            if spec.variants.iter().all(|variant| variant.name != *name) {
                return Err(fault(format!("a profile names `{name}`, which is no variant")));
            }
        }
        if let Some(stranger) = named.into_iter().find(|name| !known(name)) {
            return Err(fault(format!("`{stranger}` has rules but is not among the datasets")));
        }
        if spec.repeats == 0 || spec.variants.is_empty() || spec.datasets.is_empty() {
            return Err(fault("a study needs repeats, variants and datasets".to_owned()));
        }
        let methods = spec.variants.iter().flat_map(|variant| &variant.methods);
        let methods: Vec<&str> = methods.map(|method| method.name.as_str()).collect();
        if let Some(reason) = spec.grid.as_ref().and_then(|grid| grid.fault(&methods)) {
            return Err(fault(reason));
        }
        let folded = |tuner: &Tuner| tuner.folds.is_some_and(|folds| folds < 2);
        let tuners = spec.variants.iter().flat_map(|variant| {
            let methods = variant.methods.iter().map(|method| &method.tuner);
            let rules = variant.dataset.values().map(|rule| &rule.tuner);
            methods.chain(rules).chain([&variant.tuner])
        });
        if tuners.flatten().any(folded) {
            return Err(fault("a tuner needs two folds, or none".to_owned()));
        }
        Ok(spec)
    }

    fn read_nulls(&mut self) {
        let of_variants = self.variants.iter_mut().flat_map(|variant| {
            let rules = variant.dataset.values_mut().map(|rule| &mut rule.settings);
            let of_methods = variant.methods.iter_mut().flat_map(|method| {
                let by_dataset = method.dataset.values_mut().chain(method.first.values_mut());
                std::iter::once(&mut method.settings).chain(by_dataset)
            });
            std::iter::once(&mut variant.settings).chain(rules).chain(of_methods)
        });
        for settings in self.given.values_mut().chain(of_variants) {
            let nulls: Vec<String> = settings
                .iter()
                .filter(|(_, value)| value.as_str() == Some("null"))
                .map(|(name, _)| name.to_owned())
                .collect();
            for name in nulls {
                *settings = std::mem::take(settings).with(&name, serde_json::Value::Null);
            }
        }
    }

    /// Returns the study whose random streams the trials use.
    pub fn streams(&self) -> &str {
        self.paired_with.as_deref().unwrap_or(&self.artefact)
    }

    /// Returns the paper's number of repeats on a dataset.
    pub fn repeats_of_paper(&self, dataset: &str) -> u32 {
        self.dataset.get(dataset).and_then(|rule| rule.repeats).unwrap_or(self.repeats)
    }

    /// Steps between two looks on a dataset, if it has curves.
    pub fn look_every(&self, dataset: &str) -> Option<usize> {
        self.dataset.get(dataset).and_then(|rule| rule.look_every)
    }

    /// Returns whether evaluations on a dataset report losses, too.
    pub fn look_at_losses(&self, dataset: &str) -> bool {
        self.dataset.get(dataset).is_some_and(|rule| rule.look_at_losses)
    }

    /// Returns the profile of that name; `paper` cuts nothing.
    ///
    /// # Errors
    /// [`HarnessError::Unknown`].
    pub fn profile(&self, name: &str) -> Result<Profile, HarnessError> {
        match self.profiles.get(name) {
            Some(profile) => Ok(profile.clone()),
            None if name == "paper" => Ok(Profile::default()),
            None => {
                let mut known = vec!["paper"];
                known.extend(
                    self.profiles.keys().map(String::as_str).filter(|name| *name != "paper"),
                );
                Err(HarnessError::unknown("profile", name, &known, &self.artefact))
            }
        }
    }
}
