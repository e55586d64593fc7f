use serde::Serialize;

/// The value of a bound, with its terms in the order of the formula.
///
/// ```
/// use mercer_theory::sgd_step_limit;
/// let limit = sgd_step_limit(100, 10, 0.05)?;
/// let needed = limit.term("32·ln²(2/δ)").unwrap();
/// assert!(needed > 435.0 && limit.vacuous == Some(true)); // 100 rows are too few for the theorem
/// assert!(limit.value <= 0.125 && limit.term("no such term").is_none());
/// assert!(limit.source.starts_with("Li, Liu and Zhang"));
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bound {
    /// The bound, not clipped.
    pub value: f64,
    /// Parts of the formula, each under the name that the formula gives it.
    pub terms: Vec<(&'static str, f64)>,
    /// Whether the bound says nothing. Either its value is at least a bound that holds without any theorem (the range
    /// of the loss), or a condition of its theorem is not met. `None` where the question has no answer: of a
    /// complexity, a factor or a rate without its constant, which nothing is compared with until it stands in a risk
    /// bound.
    pub vacuous: Option<bool>,
    /// Paper, theorem or equation.
    pub source: &'static str,
}

impl Bound {
    /// Returns the term of that name.
    pub fn term(&self, name: &str) -> Option<f64> {
        self.terms.iter().find(|(known, _)| *known == name).map(|&(_, value)| value)
    }
}
