use crate::{LearningError, Predictor};
use ndarray::{Array, ArrayBase, Data, Dimension, IntoDimension, ShapeBuilder};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The numbers of a [`Tensor`].
///
/// ```
/// use mercer_learning::{Element, Numbers};
/// let numbers = Numbers::F32(vec![1.0, 2.0]);
/// assert_eq!((numbers.len(), numbers.is_empty()), (2, false));
/// assert_eq!(f32::unwrap(&numbers), Some([1.0, 2.0].as_slice()));
/// assert_eq!(f64::unwrap(&numbers), None); // never converted in silence
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Numbers {
    /// Double precision.
    F64(Vec<f64>),
    /// Single precision.
    F32(Vec<f32>),
    /// Indices and counts.
    U32(Vec<u32>),
}

impl Numbers {
    /// Returns how many.
    pub const fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::U32(values) => values.len(),
        }
    }

    /// Returns whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    const fn kind(&self) -> &'static str {
        match self {
            Self::F64(_) => "f64",
            Self::F32(_) => "f32",
            Self::U32(_) => "u32",
        }
    }
}

/// A type that a [`Tensor`] can hold.
///
/// ```
/// use mercer_learning::{Element, Numbers};
/// assert_eq!(u32::wrap(vec![3, 4]), Numbers::U32(vec![3, 4]));
/// assert_eq!(<f64 as Element>::KIND, "f64");
/// assert!(1.5f64.is_sound() && !f64::NAN.is_sound()); // a model file with NaN is refused
/// ```
pub trait Element: Copy + 'static {
    /// Its name in a message.
    const KIND: &'static str;

    /// Wraps the numbers.
    fn wrap(numbers: Vec<Self>) -> Numbers;

    /// Returns the numbers, if they are of this type.
    fn unwrap(numbers: &Numbers) -> Option<&[Self]>;

    /// Returns whether it is a number that a model may hold.
    fn is_sound(self) -> bool;
}

macro_rules! element {
    ($type:ty, $variant:ident, $kind:literal, $sound:expr) => {
        impl Element for $type {
            const KIND: &'static str = $kind;
            fn wrap(numbers: Vec<Self>) -> Numbers {
                Numbers::$variant(numbers)
            }
            fn unwrap(numbers: &Numbers) -> Option<&[Self]> {
                match numbers {
                    Numbers::$variant(values) => Some(values),
                    _ => None,
                }
            }
            fn is_sound(self) -> bool {
                let sound: fn($type) -> bool = $sound;
                sound(self)
            }
        }
    };
}

element!(f64, F64, "f64", f64::is_finite);
element!(f32, F32, "f32", f32::is_finite);
element!(u32, U32, "u32", |_| true);

/// One array of a predictor. Its numbers have the order in which they lie in memory.
///
/// The order is kept because products add in it: a restored predictor gives the same bits.
///
/// ```
/// use mercer_learning::{Numbers, State};
/// use ndarray::{Array2, array};
/// let matrix = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
/// let state = State::new().with_array("by-rows", &matrix).with_array("by-columns", &matrix.t());
/// let tensors = state.tensors();
/// let (rows, columns) = (tensors["by-rows"], tensors["by-columns"]);
/// assert_eq!((rows.shape.as_slice(), columns.shape.as_slice()), ([2, 3].as_slice(), [3, 2].as_slice()));
/// assert_eq!((rows.column_major, columns.column_major), (false, true));
/// assert_eq!(rows.numbers, columns.numbers); // one piece of memory, seen in two ways
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Length of each axis.
    pub shape: Vec<usize>,
    /// Whether the first axis varies fastest, not the last.
    pub column_major: bool,
    /// The numbers.
    pub numbers: Numbers,
}

/// The parts of a fitted predictor: named arrays, named values and other parts. These parts are predictors of their
/// own. All that is written to a model file, and all that [`crate::Method::restore`] is handed.
///
/// ```
/// use mercer_learning::State;
/// use ndarray::{Array2, Ix2, array};
/// let state = State::new().with("scale", 0.5).with_array("weights", &array![[1.0, 2.0]]);
/// assert_eq!(state.value::<f64>("scale")?, 0.5);
/// let weights: Array2<f64> = state.array::<f64, Ix2>("weights")?;
/// assert_eq!(weights, array![[1.0, 2.0]]);
/// assert!(state.array_of::<f64, Ix2>("weights", (2, 1)).is_err());
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State {
    values: BTreeMap<String, Value>,
    arrays: BTreeMap<String, Tensor>,
    parts: BTreeMap<String, State>,
}

/// The values of a [`State`] and of its parts, without their arrays. They fit into a JSON header.
///
/// ```
/// use mercer_learning::{Outline, State};
/// use ndarray::array;
/// let inner = State::new().with_array("weights", &array![1.0, 2.0]);
/// let state = State::new().with("scale", 0.5).with_part("inner", inner);
/// let outline = state.outline();
/// assert_eq!(serde_json::to_value(&outline.values)?, serde_json::json!({ "scale": 0.5 }));
/// let tensors = state.tensors().into_iter().map(|(name, tensor)| (name, tensor.clone())).collect();
/// assert_eq!(State::assemble(outline.clone(), tensors), Ok(state));
/// let refused = State::assemble(outline, [].into()); // a part that has lost its array is another state
/// assert!(refused.is_ok_and(|state| state.tensors().is_empty()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outline {
    /// Named values.
    #[serde(default)]
    pub values: BTreeMap<String, Value>,
    /// Arrays that lie column by column.
    #[serde(default)]
    pub column_major: Vec<String>,
    /// Parts.
    #[serde(default)]
    pub parts: BTreeMap<String, Outline>,
}

/// Between the name of a part and the name of an array in it.
const SEPARATOR: char = '/';

impl State {
    /// Makes an empty state.
    pub const fn new() -> Self {
        Self { values: BTreeMap::new(), arrays: BTreeMap::new(), parts: BTreeMap::new() }
    }

    /// Returns this with a value that JSON can hold: no NaN, infinity or large array.
    ///
    /// # Panics
    /// If `value` does not serialise to JSON without loss: a fault of its type.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Serialize) -> Self {
        let value = serde_json::to_value(value).expect("a value that JSON can hold");
        self.values.insert(name.to_owned(), value);
        self
    }

    /// Returns this, with an array.
    #[must_use]
    pub fn with_array<S, D>(mut self, name: &str, array: &ArrayBase<S, D>) -> Self
    where
        S: Data,
        S::Elem: Element,
        D: Dimension,
    {
        let turned = array.t();
        let column_major = !array.is_standard_layout() && turned.is_standard_layout();
        let numbers: Vec<S::Elem> = if column_major {
            turned.iter().copied().collect()
        } else {
            array.iter().copied().collect()
        };
        let tensor =
            Tensor { shape: array.shape().to_vec(), column_major, numbers: Element::wrap(numbers) };
        self.arrays.insert(name.to_owned(), tensor);
        self
    }

    /// Returns this, with the state of a part: an inner predictor, say.
    #[must_use]
    pub fn with_part(mut self, name: &str, part: Self) -> Self {
        self.parts.insert(name.to_owned(), part);
        self
    }

    /// Returns a value.
    ///
    /// ```
    /// use mercer_learning::State;
    /// let state = State::new().with("classes", 3).with("name", "toy");
    /// assert_eq!(state.value::<usize>("classes")?, 3);
    /// assert!(state.value::<usize>("name").is_err()); // a word is no count
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    ///
    /// # Errors
    /// [`LearningError::State`] if there is none of that name, or it has another form.
    pub fn value<T: DeserializeOwned>(&self, name: &str) -> Result<T, LearningError> {
        let value = self.values.get(name).ok_or_else(|| broken(name, "is missing"))?;
        serde_json::from_value(value.clone()).map_err(|error| broken(name, error.to_string()))
    }

    /// Returns an array of finite numbers with the wanted number of axes.
    ///
    /// ```
    /// use mercer_learning::State;
    /// use ndarray::{array};
    /// let state = State::new().with_array("weights", &array![[1.0, 2.0]]);
    /// assert_eq!(state.array::<f64, ndarray::Ix2>("weights")?, array![[1.0, 2.0]]);
    /// assert!(state.array::<f64, ndarray::Ix1>("weights").is_err()); // it has two axes
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    ///
    /// # Errors
    /// [`LearningError::State`] if there is none of that name, type and number of axes, its numbers
    /// do not fill its shape, or one is NaN or infinite.
    pub fn array<T: Element, D: Dimension>(
        &self,
        name: &str,
    ) -> Result<Array<T, D>, LearningError> {
        let tensor = self.arrays.get(name).ok_or_else(|| broken(name, "is missing"))?;
        let Some(numbers) = T::unwrap(&tensor.numbers) else {
            let found = tensor.numbers.kind();
            return Err(broken(name, format!("holds {found}, not {}", T::KIND)));
        };
        if let Some(at) = numbers.iter().position(|&number| !number.is_sound()) {
            return Err(broken(name, format!("its number {at} is not finite")));
        }
        if D::NDIM.is_some_and(|axes| axes != tensor.shape.len()) {
            return Err(broken(name, format!("has {} axes", tensor.shape.len())));
        }
        let mut dimension = D::zeros(tensor.shape.len());
        dimension.slice_mut().copy_from_slice(&tensor.shape);
        let shape = dimension.set_f(tensor.column_major);
        Array::from_shape_vec(shape, numbers.to_vec()).map_err(|_| {
            broken(name, format!("{} numbers do not fill {:?}", numbers.len(), tensor.shape))
        })
    }

    /// Returns an array of finite numbers with the wanted shape.
    ///
    /// ```
    /// use mercer_learning::State;
    /// use ndarray::array;
    /// let state = State::new().with_array("weights", &array![[1.0, 2.0]]);
    /// assert!(state.array_of::<f64, _>("weights", (1, 2)).is_ok());
    /// let refused = state.array_of::<f64, _>("weights", (2, 1)).unwrap_err();
    /// assert!(refused.to_string().contains("has shape [1, 2], not [2, 1]"), "{refused}");
    /// ```
    ///
    /// # Errors
    /// As [`State::array`], and if the shape is another one.
    pub fn array_of<T: Element, D: Dimension>(
        &self,
        name: &str,
        shape: impl IntoDimension<Dim = D>,
    ) -> Result<Array<T, D>, LearningError> {
        let array = self.array::<T, D>(name)?;
        let wanted = shape.into_dimension();
        if array.raw_dim() == wanted {
            Ok(array)
        } else {
            Err(broken(name, format!("has shape {:?}, not {:?}", array.shape(), wanted.slice())))
        }
    }

    /// Returns a part.
    ///
    /// # Errors
    /// [`LearningError::State`] if there is none of that name.
    pub fn part(&self, name: &str) -> Result<&Self, LearningError> {
        self.parts.get(name).ok_or_else(|| broken(name, "is missing"))
    }

    /// Returns whether it has an array of that name and of numbers of this type.
    pub fn holds<T: Element>(&self, name: &str) -> bool {
        self.arrays.get(name).is_some_and(|tensor| T::unwrap(&tensor.numbers).is_some())
    }

    /// Returns all arrays; arrays of parts are under `part/name`.
    pub fn tensors(&self) -> BTreeMap<String, &Tensor> {
        let mut all: BTreeMap<String, &Tensor> =
            self.arrays.iter().map(|(name, tensor)| (name.clone(), tensor)).collect();
        for (part, state) in &self.parts {
            let below = state.tensors().into_iter();
            all.extend(below.map(|(name, tensor)| (format!("{part}{SEPARATOR}{name}"), tensor)));
        }
        all
    }

    /// Returns all that is no array.
    pub fn outline(&self) -> Outline {
        let column_major = self
            .arrays
            .iter()
            .filter(|(_, tensor)| tensor.column_major)
            .map(|(name, _)| name.clone());
        Outline {
            values: self.values.clone(),
            column_major: column_major.collect(),
            parts: self.parts.iter().map(|(name, part)| (name.clone(), part.outline())).collect(),
        }
    }

    /// Puts together what [`State::outline`] and [`State::tensors`] took apart. Whether an array lies column by column
    /// is read from the outline.
    ///
    /// ```
    /// use mercer_learning::State;
    /// use ndarray::array;
    /// let state = State::new().with_part("inner", State::new().with_array("w", &array![1.0, 2.0]));
    /// let tensors = state.tensors().into_iter().map(|(name, tensor)| (name, tensor.clone())).collect();
    /// assert_eq!(State::assemble(state.outline(), tensors)?, state);
    /// assert!(State::assemble(state.outline(), [].into())?.part("inner")?.array::<f64, ndarray::Ix1>("w").is_err());
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    ///
    /// # Errors
    /// [`LearningError::State`] if an array belongs to no part, or the outline names an array that
    /// is not there.
    pub fn assemble(
        outline: Outline,
        tensors: BTreeMap<String, Tensor>,
    ) -> Result<Self, LearningError> {
        let mut state = Self { values: outline.values, ..Self::default() };
        let mut below: BTreeMap<String, BTreeMap<String, Tensor>> =
            outline.parts.keys().map(|part| (part.clone(), BTreeMap::new())).collect();
        for (name, tensor) in tensors {
            match name.split_once(SEPARATOR) {
                None => drop(state.arrays.insert(name, Tensor { column_major: false, ..tensor })),
                Some((part, rest)) => {
                    let part =
                        below.get_mut(part).ok_or_else(|| broken(&name, "belongs to no part"))?;
                    part.insert(rest.to_owned(), tensor);
                }
            }
        }
        for name in outline.column_major {
            let tensor = state.arrays.get_mut(&name).ok_or_else(|| broken(&name, "is missing"))?;
            tensor.column_major = true;
        }
        for (part, outline) in outline.parts {
            let tensors = below.remove(&part).unwrap_or_default();
            state.parts.insert(part, Self::assemble(outline, tensors)?);
        }
        Ok(state)
    }

    /// This, without the last entries along the first axis of one array: what a law of
    /// [`crate::conformance`] holds a restoration against.
    pub(crate) fn cut(&self, name: &str) -> Option<Self> {
        let mut tensors: BTreeMap<String, Tensor> =
            self.tensors().into_iter().map(|(name, tensor)| (name, tensor.clone())).collect();
        let tensor = tensors.get_mut(name)?;
        let first = tensor.shape.first_mut().filter(|length| **length > 0)?;
        let share = tensor.numbers.len() / *first;
        *first -= 1;
        let keep = *first * share;
        match &mut tensor.numbers {
            Numbers::F64(values) => values.truncate(keep),
            Numbers::F32(values) => values.truncate(keep),
            Numbers::U32(values) => values.truncate(keep),
        }
        Self::assemble(self.outline(), tensors).ok()
    }
}

fn broken(name: &str, problem: impl Into<String>) -> LearningError {
    LearningError::State { name: name.to_owned(), problem: problem.into() }
}

/// Refuses to restore, for [`crate::Method::restore`] of an object that is never kept. Such an object is no predictor
/// on its own: curves of a study, doubles of a test. A registered method that names it breaks a law of
/// [`crate::conformance`].
///
/// ```
/// let refused = mercer_learning::never_kept(&mercer_learning::State::new()).err().unwrap();
/// assert_eq!(
///     refused.to_string(),
///     "the kept model cannot be restored: `model` is of a method whose models are not kept"
/// );
/// ```
///
/// # Errors
/// Always [`LearningError::State`].
pub fn never_kept(_: &State) -> Result<Box<dyn Predictor>, LearningError> {
    Err(broken("model", "is of a method whose models are not kept"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, Ix1, Ix2, array};

    fn example() -> State {
        let inner = State::new().with_array("weights", &array![1u32, 7]);
        let tall: Array2<f64> = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
        State::new()
            .with("name", "x")
            .with("scale", 0.1)
            .with_array("tall", &tall.t())
            .with_array("single", &array![0.5f32])
            .with_part("inner", inner)
    }

    #[test]
    fn taken_apart_and_put_together_it_is_the_same() {
        let state = example();
        let text = serde_json::to_string(&state.outline()).unwrap();
        let outline: Outline = serde_json::from_str(&text).unwrap();
        let tensors = state.tensors().into_iter().map(|(name, t)| (name, t.clone())).collect();
        let again = State::assemble(outline, tensors).unwrap();
        assert_eq!(again, state);
        let tall: Array2<f64> = again.array_of::<_, Ix2>("tall", (3, 2)).unwrap();
        assert_eq!(tall, array![[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]);
        assert!(tall.t().is_standard_layout(), "the order in memory is kept");
        assert_eq!(
            again.part("inner").unwrap().array::<u32, Ix1>("weights").unwrap(),
            array![1, 7]
        );
    }

    #[test]
    fn every_fault_is_named() {
        let state = example().with_array("bad", &array![1.0, f64::NAN]);
        let told = |error: LearningError| error.to_string();
        assert!(told(state.value::<f64>("gone").unwrap_err()).contains("`gone` is missing"));
        assert!(told(state.value::<f64>("name").unwrap_err()).contains("`name`"));
        let array = |name| told(state.array::<f64, Ix1>(name).unwrap_err());
        assert!(array("gone").contains("is missing"));
        assert!(array("single").contains("holds f32, not f64"));
        assert!(array("tall").contains("has 2 axes"));
        assert!(array("bad").contains("its number 1 is not finite"));
        let shaped = told(state.array_of::<f64, Ix2>("tall", (2, 3)).unwrap_err());
        assert!(shaped.contains("[3, 2], not [2, 3]"), "{shaped}");
        assert!(told(state.part("outer").unwrap_err()).contains("`outer`"));
        let stray = BTreeMap::from([(
            "part/x".to_owned(),
            Tensor { shape: vec![1], column_major: false, numbers: Numbers::U32(vec![1]) },
        )]);
        assert!(State::assemble(Outline::default(), stray).is_err());
        let short = Tensor { shape: vec![3], column_major: false, numbers: Numbers::U32(vec![1]) };
        let state = State::assemble(Outline::default(), [("x".to_owned(), short)].into()).unwrap();
        assert!(state.array::<u32, Ix1>("x").unwrap_err().to_string().contains("do not fill"));
    }
}
