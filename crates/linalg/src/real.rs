use ndarray::NdFloat;
use std::iter::Sum;

/// The floating-point types of the workspace: `f32` for mini-batch training, `f64` for all else.
///
/// Arithmetic and the scalar functions come with [`NdFloat`]; the whole-slice functions are
/// [`crate::sin_cos`], [`crate::cos`] and [`crate::exp`].
///
/// ```
/// use mercer_linalg::Real;
/// fn mean<F: Real>(numbers: &[F]) -> F {
///     numbers.iter().copied().sum::<F>() / F::of(numbers.len() as f64)
/// }
/// assert_eq!((mean(&[1.0f32, 2.0]), mean(&[1.0f64, 2.0]).wide()), (1.5, 1.5));
/// ```
pub trait Real: NdFloat + Default + Sum + 'static {
    /// Rounds `x` to this type.
    fn of(x: f64) -> Self;

    /// Returns this number in double precision, exactly.
    fn wide(self) -> f64;

    /// `sin[i], cos[i] = sin(x[i]), cos(x[i])`; called through [`crate::sin_cos`].
    #[doc(hidden)]
    fn sin_cos_slice(x: &[Self], sin: &mut [Self], cos: &mut [Self]);

    /// `cos[i] = cos(x[i])`; called through [`crate::cos`].
    #[doc(hidden)]
    fn cos_slice(x: &[Self], cos: &mut [Self]);

    /// `exp[i] = e^x[i]`; called through [`crate::exp`].
    #[doc(hidden)]
    fn exp_slice(x: &[Self], exp: &mut [Self]);
}
