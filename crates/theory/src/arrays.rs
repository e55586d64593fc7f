use crate::calculators::{finite, unknown};
use crate::{Bound, TheoryError};
use ndarray::{Array2, ArrayView2};
use std::collections::BTreeMap;

/// A number, a list or a table that an [`ArrayCalculator`] takes.
///
/// ```
/// use mercer_theory::ARRAY_CALCULATORS;
/// let ridge = ARRAY_CALCULATORS.iter().find(|known| known.name == "rftk-effective-ridge").unwrap();
/// let names: Vec<&str> = ridge.inputs.iter().map(|input| input.name).collect();
/// assert_eq!(names, ["eigenvalues", "features"]);
/// // What each says of itself is what `mercer bound` prints; the examples of one bound go together.
/// assert!(ridge.inputs.iter().all(|input| !input.meaning.is_empty() && !input.example.is_empty()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArrayInput {
    /// Name on the command line, kebab-case.
    pub name: &'static str,
    /// The formula's letter and what it means.
    pub meaning: &'static str,
    /// Its shape and its allowed values. A list is a table of one column, a number a list of one.
    pub range: &'static str,
    /// One to try, row by row; the examples of one calculator are in range together.
    pub example: &'static [&'static [f64]],
}

/// A bound of arrays: what `mercer bound` evaluates of JSON.
///
/// ```
/// use mercer_theory::ARRAY_CALCULATORS;
/// use ndarray::array;
/// let exact = ARRAY_CALCULATORS.iter().find(|known| known.name == "askl-rademacher-exact").unwrap();
/// let given = |gram| {
///     [("trace-norm", array![[3.0]]), ("outputs", array![[1.0]]), ("gram", gram)].into()
/// };
/// assert_eq!(exact.bound(&given(array![[4.0]]))?.value, 6.0); // B ‖φ‖ of one point
/// let refused = exact.bound(&given(array![[4.0, 1.0]])).unwrap_err();
/// assert_eq!(refused.to_string(), "`gram` is 1 x 2; it must be 1 x 1");
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ArrayCalculator {
    /// Name on the command line, kebab-case, its paper's short name first.
    pub name: &'static str,
    /// One line that names the bounded quantity.
    pub title: &'static str,
    /// Paper, theorem or equation.
    pub source: &'static str,
    /// What it takes.
    pub inputs: &'static [ArrayInput],
    /// The bound of inputs that are all there; call [`ArrayCalculator::bound`], which checks that.
    pub evaluate: fn(&Arrays<'_>) -> Result<Bound, TheoryError>,
}

/// Arrays by the names of inputs.
///
/// ```
/// use mercer_theory::{ARRAY_CALCULATORS, Arrays};
/// use ndarray::array;
/// let ridge = ARRAY_CALCULATORS.iter().find(|known| known.name == "rftk-effective-ridge").unwrap();
/// let mut given = Arrays::new();
/// given.insert("eigenvalues", array![[1.0], [1.0], [1.0], [1.0]]); // a list is a table of one column
/// let refused = ridge.bound(&given).unwrap_err();
/// assert!(refused.to_string().starts_with("`rftk-effective-ridge` needs `features`"));
/// given.insert("features", array![[2.0]]);
/// assert!((ridge.bound(&given)?.value - 0.25).abs() < 1e-15); // 4/(1 + t) = 2, λ = t/4
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub type Arrays<'a> = BTreeMap<&'a str, Array2<f64>>;

impl ArrayCalculator {
    /// Returns the input of that name.
    ///
    /// ```
    /// use mercer_theory::ARRAY_CALCULATORS;
    /// let ridge = ARRAY_CALCULATORS.iter().find(|known| known.name == "rftk-effective-ridge").unwrap();
    /// assert!(ridge.input("eigenvalues")?.example.len() > 1); // a list
    /// let refused = ridge.input("eigenvalue").unwrap_err().to_string();
    /// assert!(refused.contains("did you mean `eigenvalues`?"), "{refused}");
    /// # Ok::<(), mercer_theory::TheoryError>(())
    /// ```
    ///
    /// # Errors
    /// [`TheoryError::UnknownInput`], with the names that exist.
    pub fn input(&self, name: &str) -> Result<&'static ArrayInput, TheoryError> {
        let known = || self.inputs.iter().map(|input| input.name);
        let found = self.inputs.iter().find(|input| input.name == name);
        found.ok_or_else(|| unknown(self.name, name, known()))
    }

    /// Checks that every input is there and known, and evaluates.
    ///
    /// ```
    /// use mercer_theory::ARRAY_CALCULATORS;
    /// use ndarray::array;
    /// let ridge = ARRAY_CALCULATORS.iter().find(|known| known.name == "rftk-effective-ridge");
    /// let eigenvalues = array![[1.0], [0.5], [0.25], [0.125]];
    /// let given = [("eigenvalues", eigenvalues), ("features", array![[2.0]])].into();
    /// let bound = ridge.expect("it is registered").bound(&given)?;
    /// assert!((bound.value - 0.125f64.sqrt() / 4.0).abs() < 1e-15);
    /// # Ok::<(), mercer_theory::TheoryError>(())
    /// ```
    ///
    /// # Errors
    /// [`TheoryError::UnknownInput`], [`TheoryError::Missing`], what the bound says of an array, or
    /// [`TheoryError::Overflow`].
    pub fn bound(&self, given: &Arrays<'_>) -> Result<Bound, TheoryError> {
        let calculator = self.name;
        for &name in given.keys() {
            self.input(name)?;
        }
        for &ArrayInput { name, meaning, .. } in self.inputs {
            if !given.contains_key(name) {
                return Err(TheoryError::Missing { calculator, input: name, meaning });
            }
        }
        let bound = (self.evaluate)(given)
            .map_err(|error| error.called(self.inputs.iter().map(|input| input.name)))?;
        finite(calculator, bound)
    }
}

pub(crate) const OUTPUTS: ArrayInput = ArrayInput {
    name: "outputs",
    meaning: "K, the number of outputs",
    range: "a whole number from 1",
    example: &[&[10.0]],
};
pub(crate) const GRAM: ArrayInput = ArrayInput {
    name: "gram",
    meaning: "K, the kernel matrix of the points",
    range: "a symmetric table, positive semi-definite",
    example: &[&[1.0, 0.5], &[0.5, 1.0]],
};

/// The table of an input; [`ArrayCalculator::evaluate`] may have been called without it.
pub(crate) fn table<'a>(
    inputs: &'a Arrays<'_>,
    input: &ArrayInput,
) -> Result<ArrayView2<'a, f64>, TheoryError> {
    let &ArrayInput { name, meaning, .. } = input;
    let missing = TheoryError::Missing { calculator: "the calculator", input: name, meaning };
    inputs.get(name).map(Array2::view).ok_or(missing)
}

/// The entries of a table of one column.
pub(crate) fn list(inputs: &Arrays<'_>, input: &ArrayInput) -> Result<Vec<f64>, TheoryError> {
    let table = table(inputs, input)?;
    crate::error::check_shape(input.name, table.dim(), (table.nrows(), 1))?;
    Ok(table.iter().copied().collect())
}

/// The entry of a table of one.
pub(crate) fn number(inputs: &Arrays<'_>, input: &ArrayInput) -> Result<f64, TheoryError> {
    let table = table(inputs, input)?;
    crate::error::check_shape(input.name, table.dim(), (1, 1))?;
    Ok(table[[0, 0]])
}

/// A whole number from 1 that f64 represents exactly.
pub(crate) fn count(inputs: &Arrays<'_>, input: &ArrayInput) -> Result<usize, TheoryError> {
    let value = number(inputs, input)?;
    if value >= 1.0 && value <= 2f64.powi(53) && value.fract() == 0.0 {
        return Ok(value as usize);
    }
    Err(TheoryError::Range { argument: input.name, value, must: input.range })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_a_whole_number_from_one_that_a_float_holds() {
        let read = |value: f64| {
            count(&Arrays::from([(OUTPUTS.name, Array2::from_elem((1, 1), value))]), &OUTPUTS)
        };
        for (value, whole) in [(1.0, 1), (7.0, 7), (2f64.powi(53), 1 << 53)] {
            assert_eq!(read(value).unwrap(), whole);
        }
        for bad in [0.0, -3.0, 0.5, 2.5, 2f64.powi(54), f64::INFINITY, f64::NAN] {
            let error = read(bad).unwrap_err().to_string();
            assert!(error.contains("outputs") && error.contains("whole number"), "{bad}: {error}");
        }
    }
}
