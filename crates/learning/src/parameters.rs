use crate::{LearningError, Settings};
use serde::de::{DeserializeOwned, Deserializer, Error as _, SeqAccess, Visitor};
use serde::{Serialize, forward_to_deserialize_any};
use serde_json::Value;
use std::fmt;

/// A type of settings that [`parameters!`](crate::parameters) has declared. It says what each is called and means, what
/// it is where nothing is given, and what it may be.
///
/// ```
/// use mercer_learning::{Allowed, Parameters, parameters};
/// parameters! {
///     /// Settings of a toy.
///     pub struct ToyParams {
///         /// Features `D`.
///         pub features: usize = 200, Allowed::COUNT;
///         /// Seed, if it is fixed.
///         pub seed: Option<u32> = None;
///     }
/// }
/// assert_eq!(ToyParams::ENTRIES[1].name, "seed");
/// assert!(ToyParams::default().in_range().is_ok());
/// let refused = ToyParams { features: 0, seed: None }.in_range().unwrap_err();
/// assert_eq!(refused.to_string(), "setting `features` is 0; it must be at least 1");
/// ```
pub trait Parameters: Default + Serialize + DeserializeOwned {
    /// The fields in their order.
    const ENTRIES: &'static [Entry];

    /// Checks every field that has a range.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of it.
    fn in_range(&self) -> Result<(), LearningError>;
}

/// A field of a type of settings.
///
/// ```
/// use mercer_learning::{Allowed, Kind, Parameters, parameters};
/// parameters! {
///     /// Settings of a toy.
///     pub struct ToyParams {
///         /// Steps of a path, each at least 2.
///         pub steps: Vec<usize> = vec![2, 4], Allowed::PAIR;
///     }
/// }
/// let entry = &ToyParams::ENTRIES[0];
/// assert_eq!((entry.name, entry.doc.trim()), ("steps", "Steps of a path, each at least 2."));
/// assert_eq!((entry.kind)(), Kind::List(Box::new(Kind::Whole)));
/// assert_eq!(entry.range, Some(Allowed::PAIR));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Its docstring.
    pub doc: &'static str,
    /// What its type reads.
    pub kind: fn() -> Kind,
    /// Its range, if it has one.
    pub range: Option<Allowed>,
    /// What it may be, where its type cannot tell.
    pub words: Option<&'static str>,
    /// Attributes that keep it from being read: it is no setting then.
    pub skipped: &'static [&'static str],
}

/// A setting of a method, as [`crate::Method::settings`] declares it.
///
/// ```
/// use mercer_learning::{Allowed, Kind, Setting};
/// let setting = Setting {
///     name: "bandwidth",
///     meaning: "Bandwidth σ; the median distance if null.".to_owned(),
///     default: serde_json::Value::Null,
///     kind: Kind::Optional(Box::new(Kind::Number)),
///     range: Some(Allowed::POSITIVE),
///     words: None,
///     replaces: None,
///     eases: None,
///     heeded: Vec::new(),
/// };
/// assert_eq!(setting.allowed(), "a number, positive and finite, or null");
/// assert_eq!(Setting { words: Some("auto"), ..setting }.allowed(), "auto");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// What it means, in plain text.
    pub meaning: String,
    /// Its value where nothing is given; null where its absence means something.
    pub default: Value,
    /// What its type reads.
    pub kind: Kind,
    /// Its range, if it has one beyond its type.
    pub range: Option<Allowed>,
    /// What it may be, where its type cannot tell.
    pub words: Option<&'static str>,
    /// The setting that would be used in its place. Whoever sets this one alone takes that one away.
    pub replaces: Option<&'static str>,
    /// What it must be for a fit to end within its tolerance that did not.
    pub eases: Option<ConvergenceHint>,
    /// Where it is used: of each list one condition must hold ([`crate::with_conditions`]).
    pub heeded: Vec<&'static [crate::Where]>,
}

impl Setting {
    /// What it may be, in words: `a number, positive and finite, or null`.
    pub fn allowed(&self) -> String {
        match self.words {
            Some(words) => words.to_owned(),
            None => self.kind.words(self.range.map(|range| range.must)),
        }
    }
}

/// Returns the settings of a parameter type: [`crate::Method::settings`] of a method that reads them.
///
/// ```
/// use mercer_learning::{Allowed, Kind, declared, parameters};
/// parameters! {
///     /// Settings of a toy.
///     pub struct ToyParams {
///         /// `λ ≥ 0`.
///         pub lambda: f64 = 1e-3, Allowed::NOT_NEGATIVE;
///         /// Whether the mean is subtracted.
///         pub centre: bool = true;
///     }
/// }
/// let settings = declared::<ToyParams>();
/// assert_eq!((settings[0].name, settings[0].meaning.as_str()), ("lambda", "λ ≥ 0."));
/// assert_eq!(settings[0].allowed(), "a number, at least 0 and finite");
/// assert_eq!((&settings[1].default, &settings[1].kind), (&true.into(), &Kind::Flag));
/// ```
pub fn declared<P: Parameters>() -> Vec<Setting> {
    let defaults = Settings::of(&P::default());
    let entries = P::ENTRIES.iter().filter(|entry| entry.skipped.is_empty());
    let one = |entry: &Entry| Setting {
        name: entry.name,
        meaning: plain(entry.doc),
        default: defaults.get(entry.name).cloned().unwrap_or_default(),
        kind: (entry.kind)(),
        range: entry.range,
        words: entry.words,
        replaces: None,
        eases: None,
        heeded: Vec::new(),
    };
    entries.map(one).collect()
}

/// Declares that `name` says in another way what `other` does and yields to it. Given alone it is used, whatever the
/// defaults or a tuner have for `other` ([`crate::Method::as_meant`]).
///
/// ```
/// use mercer_learning::{declared, parameters, replacing};
/// parameters! {
///     /// Settings of a toy.
///     pub struct ToyParams {
///         /// `C`, where there is no `ridge`.
///         pub cost: f64 = 1.0;
///         /// `λ = 1/(2 C n)`.
///         pub ridge: Option<f64> = None;
///     }
/// }
/// let settings = replacing(declared::<ToyParams>(), "cost", "ridge");
/// assert_eq!((settings[0].replaces, settings[1].replaces), (Some("ridge"), None));
/// ```
#[must_use]
pub fn replacing(mut settings: Vec<Setting>, name: &str, other: &'static str) -> Vec<Setting> {
    for setting in settings.iter_mut().filter(|setting| setting.name == name) {
        setting.replaces = Some(other);
    }
    settings
}

/// How a setting helps an iteration to its tolerance.
///
/// ```
/// use mercer_learning::ConvergenceHint;
/// // Of hyper-SVR: a larger tolerance asks for less, a smaller weight of the losses for fewer steps.
/// let hints = [("pair_tolerance", ConvergenceHint::Larger), ("pair_cost", ConvergenceHint::Smaller)];
/// assert_ne!(hints[0].1, hints[1].1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConvergenceHint {
    /// It bounds the iterations: allow more.
    More,
    /// A larger value asks for less, or makes the problem better conditioned.
    Larger,
    /// A smaller value does.
    Smaller,
}

/// Those settings, where the ones named help a fit to its tolerance ([`crate::Method::unconverged`]).
///
/// ```
/// use mercer_learning::{ConvergenceHint, declared, with_hints, parameters};
/// parameters! {
///     /// Settings of a toy.
///     pub struct ToyParams {
///         /// Where it stops.
///         pub tolerance: f64 = 1e-3;
///         /// Whether the mean is subtracted.
///         pub centre: bool = true;
///     }
/// }
/// let settings = with_hints(declared::<ToyParams>(), &[("tolerance", ConvergenceHint::Larger)]);
/// assert_eq!((settings[0].eases, settings[1].eases), (Some(ConvergenceHint::Larger), None));
/// ```
///
/// # Panics
/// If a name is not declared: a slip in the code.
#[must_use]
pub fn with_hints(mut settings: Vec<Setting>, named: &[(&str, ConvergenceHint)]) -> Vec<Setting> {
    for (name, ease) in named {
        let setting = settings.iter_mut().find(|setting| setting.name == *name);
        setting.unwrap_or_else(|| panic!("`{name}` is not declared")).eases = Some(*ease);
    }
    settings
}

/// [`crate::Method::settings`] of a method that nobody calls by its name: a study's own.
///
/// ```
/// assert!(mercer_learning::undeclared().is_empty());
/// ```
pub const fn undeclared() -> Vec<Setting> {
    Vec::new()
}

/// A docstring without the marks of code and links; of a link's path the last name stays.
fn plain(doc: &str) -> String {
    let mut text = String::new();
    let mut rest = doc;
    while let Some((before, link)) = rest.split_once("[`") {
        let (path, after) = link.split_once("`]").unwrap_or((link, ""));
        text.push_str(before);
        text.push_str(path.rsplit("::").next().unwrap_or(path));
        rest = after;
    }
    text.push_str(rest);
    text.replace('`', "").trim().to_owned()
}

/// The range of a number.
///
/// ```
/// use mercer_learning::Allowed;
/// assert!(Allowed::SHARE.holds(1.0) && !Allowed::SHARE.holds(0.0));
/// let refused = Allowed::COUNT.check("epochs", &0usize).unwrap_err();
/// assert_eq!(refused.to_string(), "setting `epochs` is 0; it must be at least 1");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Allowed {
    /// The allowed values, in the words of an error: "at least 0 and finite".
    pub must: &'static str,
    low: f64,
    with_low: bool,
    high: f64,
    with_high: bool,
}

impl Allowed {
    /// `(0, ∞)`.
    pub const POSITIVE: Self = Self::between(0.0, false, f64::MAX, true, "positive and finite");
    /// `[0, ∞)`.
    pub const NOT_NEGATIVE: Self =
        Self::between(0.0, true, f64::MAX, true, "at least 0 and finite");
    /// `[0, 1)`.
    pub const BELOW_ONE: Self = Self::between(0.0, true, 1.0, false, "at least 0 and below 1");
    /// `(0, 1)`.
    pub const INSIDE_ONE: Self = Self::between(0.0, false, 1.0, false, "above 0 and below 1");
    /// `(0, 1]`.
    pub const SHARE: Self = Self::between(0.0, false, 1.0, true, "above 0 and at most 1");
    /// `1, 2, …`.
    pub const COUNT: Self = Self::between(1.0, true, f64::MAX, true, "at least 1");
    /// `2, 3, …`.
    pub const PAIR: Self = Self::between(2.0, true, f64::MAX, true, "at least 2");

    /// From `low` to `high`, each allowed itself or not; `must` says it in words.
    pub const fn between(
        low: f64,
        with_low: bool,
        high: f64,
        with_high: bool,
        must: &'static str,
    ) -> Self {
        Self { must, low, with_low, high, with_high }
    }

    /// Returns whether it holds the number; NaN and infinities are nowhere.
    pub fn holds(self, value: f64) -> bool {
        let above = if self.with_low { value >= self.low } else { value > self.low };
        let below = if self.with_high { value <= self.high } else { value < self.high };
        value.is_finite() && above && below
    }

    /// Returns numbers just outside: for tests that they are refused.
    pub fn outside(self) -> Vec<f64> {
        let Self { low, with_low, high, with_high, .. } = self;
        let below = if with_low { low - low.abs().max(1.0) } else { low };
        let above = if with_high { 2.0 * high } else { high };
        [below, above].into_iter().filter(|value| value.is_finite()).collect()
    }

    /// Checks the numbers of a setting.
    ///
    /// ```
    /// use mercer_learning::Allowed;
    /// assert!(Allowed::SHARE.check("share", &1.0).is_ok());
    /// let refused = Allowed::SHARE.check("share", &0.0).unwrap_err();
    /// assert_eq!(refused.to_string(), "setting `share` is 0; it must be above 0 and at most 1");
    /// ```
    ///
    /// # Errors
    /// [`LearningError::Setting`] with the name and the first number that is outside.
    pub fn check(self, name: &'static str, value: &impl InRange) -> Result<(), LearningError> {
        match value.numbers().into_iter().find(|&number| !self.holds(number)) {
            Some(number) => Err(LearningError::setting(name, number, self.must)),
            None => Ok(()),
        }
    }
}

/// What a range can be asked of: its numbers, none where it is absent.
///
/// ```
/// use mercer_learning::{Allowed, InRange};
/// assert_eq!(vec![3usize, 4].numbers(), [3.0, 4.0]);
/// assert!(None::<f64>.numbers().is_empty()); // what is absent is in every range
/// assert_eq!(Allowed::POSITIVE.check("rate", &None::<f64>), Ok(()));
/// assert!(Allowed::POSITIVE.check("rate", &Some(0.0)).is_err());
/// ```
pub trait InRange {
    /// Returns the numbers.
    fn numbers(&self) -> Vec<f64>;
}

impl InRange for f64 {
    fn numbers(&self) -> Vec<f64> {
        vec![*self]
    }
}

impl InRange for u32 {
    fn numbers(&self) -> Vec<f64> {
        vec![f64::from(*self)]
    }
}

impl InRange for usize {
    fn numbers(&self) -> Vec<f64> {
        vec![*self as f64]
    }
}

impl<T: InRange> InRange for Option<T> {
    fn numbers(&self) -> Vec<f64> {
        self.iter().flat_map(InRange::numbers).collect()
    }
}

impl<T: InRange> InRange for Vec<T> {
    fn numbers(&self) -> Vec<f64> {
        self.iter().flat_map(InRange::numbers).collect()
    }
}

/// What a type of settings reads, by what it asks its parser for.
///
/// ```
/// use mercer_learning::Kind;
/// #[derive(serde::Deserialize)]
/// #[serde(rename_all = "kebab-case")]
/// enum Optimiser { Adam, PlainSgd }
/// assert_eq!(Kind::of::<Optimiser>(), Kind::Words(&["adam", "plain-sgd"]));
/// let list = Kind::of::<Option<Vec<f64>>>();
/// assert_eq!(list, Kind::Optional(Box::new(Kind::List(Box::new(Kind::Number)))));
/// assert_eq!(list.innermost(), &Kind::Number);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A real number.
    Number,
    /// A whole number.
    Whole,
    /// `true` or `false`.
    Flag,
    /// One of these words, or an object under one of them.
    Words(&'static [&'static str]),
    /// Any text.
    Text,
    /// That, or null.
    Optional(Box<Kind>),
    /// A list of them.
    List(Box<Kind>),
    /// Anything else.
    Json,
}

impl Kind {
    /// Returns the kind of a type.
    ///
    /// ```
    /// use mercer_learning::Kind;
    /// assert_eq!(Kind::of::<Option<usize>>(), Kind::Optional(Box::new(Kind::Whole)));
    /// ```
    pub fn of<T: DeserializeOwned>() -> Self {
        match T::deserialize(Asked) {
            Err(Found(kind)) => kind,
            Ok(_) => Self::Json,
        }
    }

    /// Within options and lists.
    pub fn innermost(&self) -> &Self {
        match self {
            Self::Optional(kind) | Self::List(kind) => kind.innermost(),
            kind => kind,
        }
    }

    fn words(&self, range: Option<&str>) -> String {
        let with = |kind: &str| match range {
            Some(range) => format!("{kind}, {range}"),
            None => kind.to_owned(),
        };
        match self {
            Self::Number => with("a number"),
            Self::Whole => with("a whole number"),
            Self::Flag => "true, false".to_owned(),
            Self::Words(words) => words.join(", "),
            Self::Text => "text".to_owned(),
            Self::Optional(kind) => format!("{}, or null", kind.words(range)),
            Self::List(kind) => format!("[{}, ...]", kind.words(range)),
            Self::Json => "JSON".to_owned(),
        }
    }
}

/// A parser that has nothing to read, and says what it was asked for.
struct Asked;

#[derive(Debug)]
struct Found(Kind);

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.words(None))
    }
}

impl std::error::Error for Found {}

impl serde::de::Error for Found {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self(Kind::Json)
    }
}

macro_rules! found {
    ($($name:ident => $kind:ident),* $(,)?) => { $(
        fn $name<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Found> {
            Err(Found(Kind::$kind))
        }
    )* };
}

impl<'de> Deserializer<'de> for Asked {
    type Error = Found;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Found> {
        Err(Found::custom("no kind of its own"))
    }

    found! {
        deserialize_bool => Flag,
        deserialize_u8 => Whole, deserialize_u16 => Whole, deserialize_u32 => Whole,
        deserialize_u64 => Whole, deserialize_i32 => Whole, deserialize_i64 => Whole,
        deserialize_f32 => Number, deserialize_f64 => Number,
        deserialize_str => Text, deserialize_string => Text,
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Found> {
        visitor.visit_some(self).map_err(|Found(kind)| Found(Kind::Optional(Box::new(kind))))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Found> {
        visitor.visit_seq(self).map_err(|Found(kind)| Found(Kind::List(Box::new(kind))))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Found> {
        Err(Found(Kind::Words(words)))
    }

    forward_to_deserialize_any! {
        i8 i16 i128 u128 char bytes byte_buf unit unit_struct newtype_struct tuple tuple_struct map
        struct identifier ignored_any
    }
}

impl<'de> SeqAccess<'de> for Asked {
    type Error = Found;

    fn next_element_seed<T: serde::de::DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Found> {
        seed.deserialize(Self).map(Some)
    }
}

/// Declares a type of settings. Each has its docstring, type, value where nothing is given, after a comma its
/// [`Allowed`](crate::Allowed) range. After `=>` it has words for what it may be, where its type cannot tell.
///
/// The type is read by name and refuses other names; [`declared`](crate::declared) lists its settings for
/// [`Method::settings`](crate::Method::settings); [`Parameters::in_range`](crate::Parameters::in_range) checks the ranges. A field with
/// `#[serde(skip)]` is none of the settings.
///
/// ```
/// use mercer_learning::{Allowed, LearningError, Parameters, Settings, parameters};
/// parameters! {
///     /// Settings of a toy.
///     pub struct ToyParams {
///         /// Rows beyond this are left out.
///         pub cap: usize = 4000, Allowed::PAIR;
///     }
/// }
/// let params: ToyParams = Settings::new().with("cap", 1).parse("toy")?;
/// assert!(matches!(params.in_range(), Err(LearningError::Setting { name: "cap", .. })));
/// # Ok::<(), LearningError>(())
/// ```
#[macro_export]
macro_rules! parameters {
    (
        $(#[$attribute:meta])*
        $visible:vis struct $type:ident {
            $(
                $(#[doc = $doc:literal])*
                $(#[serde($skip:ident)])?
                $field_visible:vis $field:ident: $kind:ty = $default:expr
                    $(, $range:expr)? $(=> $words:literal)?;
            )*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        $visible struct $type {
            $(
                $(#[doc = $doc])*
                $(#[serde($skip)])?
                $field_visible $field: $kind,
            )*
        }

        impl Default for $type {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $crate::Parameters for $type {
            const ENTRIES: &'static [$crate::Entry] = &[$($crate::Entry {
                name: stringify!($field),
                doc: concat!($($doc),*),
                kind: $crate::parameters!(@kind ($($skip)?) $kind),
                range: $crate::parameters!(@maybe $($range)?),
                words: $crate::parameters!(@maybe $($words)?),
                skipped: &[$(stringify!($skip))?],
            },)*];

            fn in_range(&self) -> Result<(), $crate::LearningError> {
                $($($crate::Allowed::check($range, stringify!($field), &self.$field)?;)?)*
                Ok(())
            }
        }
    };
    (@kind () $kind:ty) => { $crate::Kind::of::<$kind> };
    (@kind (skip) $kind:ty) => { || $crate::Kind::Json };
    (@maybe) => { None };
    (@maybe $given:expr) => { Some($given) };
}

#[cfg(test)]
mod tests;
