use super::implicit::setting;
use super::refused;
use mercer_kernels::{Covariance, KernelError};
use mercer_learning::{LearningError, State};
use mercer_linalg::{product, sin_cos};
use ndarray::{Array1, Array2, ArrayView2, Axis, Ix2, s};
use rand::Rng;
use rand_distr::StandardNormal;

/// Most features of a polynomial map: the normal matrix then fills 200 MB.
const MOST_FEATURES: usize = 5000;

/// Highest degree of a polynomial map: the factorial of the next is beyond the largest number.
pub(super) const MOST_DEGREE: u32 = 170;

/// A degree above [`MOST_DEGREE`].
pub(super) fn too_steep(degree: u32) -> LearningError {
    refused("degree", degree, "at most 170: its factorial is beyond the largest number")
}

/// Explicit features with parameters to learn: `Z` of Algorithm 2.
///
/// | map | features | stands for |
/// |---|---|---|
/// | polynomial | all monomials up to the degree | [`Covariance::Polynomial`], exactly |
/// | Fourier | `s √(1/D) [cos U, sin U]`, `U = (X/ℓ) Ω`, `Ω` standard normal, `d × D` | [`Covariance::Gaussian`], in expectation |
///
/// ```
/// use mercer_kernels::Covariance;
/// use mercer_models::mce::ExplicitMap;
/// use ndarray::array;
/// let kernel = Covariance::Polynomial { degree: 2, scale: 0.5, offset: 1.0 };
/// let map = ExplicitMap::monomials(&kernel, 2)?;
/// let x = array![[0.3, -1.0], [2.0, 0.7]];
/// let z = map.features(x.view());
/// assert!((z.row(0).dot(&z.row(1)) - kernel.of(x.row(0), x.row(1))).abs() < 1e-15);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ExplicitMap {
    /// The kernel that the features stand for, with the parameters.
    kernel: Covariance,
    form: Form,
}

#[derive(Debug, Clone, PartialEq)]
enum Form {
    /// Exponents of each monomial, and the root of its multinomial coefficient.
    Monomials(Vec<(Vec<u32>, f64)>),
    /// `Ω`, `d × D`.
    Fourier(Array2<f64>),
}

impl ExplicitMap {
    /// Returns all monomials of a polynomial kernel of `d` inputs: `C(d + degree, degree)` of them.
    ///
    /// # Errors
    /// [`LearningError::Setting`] for another kernel, bad parameters, a degree above 170 or more than
    /// 5000 monomials.
    pub fn monomials(kernel: &Covariance, d: usize) -> Result<Self, LearningError> {
        kernel.check(d).map_err(|error| setting(&error))?;
        let Covariance::Polynomial { degree, .. } = *kernel else {
            return Err(refused("map", "monomials", "with a polynomial kernel"));
        };
        if degree > MOST_DEGREE {
            return Err(too_steep(degree));
        }
        let count = (1..=u64::from(degree)).try_fold(1u64, |count, k| {
            Some(count.checked_mul(d as u64 + k)? / k).filter(|&c| c <= MOST_FEATURES as u64)
        });
        if count.is_none() {
            let value = format!("{degree} for {d} columns");
            return Err(refused("degree", value, "small enough for at most 5000 monomials"));
        }
        let mut all = Vec::new();
        monomials(degree, &mut Vec::new(), degree, d, &mut all);
        Ok(Self { kernel: kernel.clone(), form: Form::Monomials(all) })
    }

    /// Returns `pairs` random frequencies of a Gaussian kernel of `d` inputs: twice as many features.
    ///
    /// # Errors
    /// [`LearningError::Setting`] for another kernel, bad parameters, or no pairs.
    pub fn fourier(
        kernel: &Covariance,
        d: usize,
        pairs: usize,
        rng: &mut impl Rng,
    ) -> Result<Self, LearningError> {
        kernel.check(d).map_err(|error| setting(&error))?;
        if !matches!(kernel, Covariance::Gaussian { .. }) {
            return Err(refused("map", "fourier", "with a Gaussian kernel"));
        }
        if pairs == 0 {
            return Err(refused("features", 0, "at least 2"));
        }
        let draw = || rng.sample::<f64, _>(StandardNormal);
        let frequencies = Array2::from_shape_simple_fn((d, pairs), draw);
        Ok(Self { kernel: kernel.clone(), form: Form::Fourier(frequencies) })
    }

    /// Returns the kernel that the features stand for, with the parameters.
    pub const fn kernel(&self) -> &Covariance {
        &self.kernel
    }

    /// Returns the same map with other parameters of its kernel.
    ///
    /// # Errors
    /// If one is not positive and finite.
    pub fn with_parameters(&self, values: &[f64], d: usize) -> Result<Self, KernelError> {
        let kernel = self.kernel.with_parameters(values);
        kernel.check(d)?;
        Ok(Self { kernel, form: self.form.clone() })
    }

    /// Returns the number of features.
    pub fn width(&self) -> usize {
        match &self.form {
            Form::Monomials(all) => all.len(),
            Form::Fourier(frequencies) => 2 * frequencies.ncols(),
        }
    }

    /// Returns the features of the rows of `inputs` (`n × d`): `n × p`.
    pub fn features(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        match (&self.form, &self.kernel) {
            (Form::Monomials(all), Covariance::Polynomial { degree, scale, offset }) => {
                let mut z = Array2::zeros((inputs.nrows(), all.len()));
                for (x, mut z) in inputs.rows().into_iter().zip(z.rows_mut()) {
                    for ((exponents, root), z) in all.iter().zip(&mut z) {
                        let order: u32 = exponents.iter().sum();
                        let rest = f64::from(degree - order);
                        let power: f64 =
                            exponents.iter().zip(x).map(|(&e, x)| x.powi(e as i32)).product();
                        *z = root * power * scale.powi(order as i32) * offset.powf(0.5 * rest);
                    }
                }
                z
            }
            (Form::Fourier(frequencies), Covariance::Gaussian { scale, lengths }) => {
                let pairs = frequencies.ncols();
                let mut angles = Array2::zeros((inputs.nrows(), pairs));
                let scaled = scaled(inputs, lengths);
                product(1.0, scaled.view(), frequencies.view(), 0.0, angles.view_mut());
                let angles: Vec<f64> = angles.into_iter().collect();
                let (mut sin, mut cos) = (vec![0.0; angles.len()], vec![0.0; angles.len()]);
                sin_cos(&angles, &mut sin, &mut cos);
                let factor = scale / (pairs as f64).sqrt();
                Array2::from_shape_fn((inputs.nrows(), 2 * pairs), |(i, j)| {
                    let half = if j < pairs { &cos } else { &sin };
                    factor * half[i * pairs + j % pairs]
                })
            }
            _ => unreachable!("a map is made with its own kernel"),
        }
    }

    /// Returns the derivatives `∂L/∂ ln θ`, in the order of the kernel's parameters. They come from `∂L/∂Z` (`n × p`)
    /// of the features `Z` of `inputs`.
    pub fn pull_back(
        &self,
        inputs: ArrayView2<'_, f64>,
        features: ArrayView2<'_, f64>,
        adjoint: ArrayView2<'_, f64>,
    ) -> Vec<f64> {
        match (&self.form, &self.kernel) {
            (Form::Monomials(all), Covariance::Polynomial { degree, .. }) => {
                let per_feature = (&features * &adjoint).sum_axis(Axis(0));
                let mut by = [0.0; 2];
                for ((exponents, _), sum) in all.iter().zip(&per_feature) {
                    let order: u32 = exponents.iter().sum();
                    by[0] += f64::from(order) * sum;
                    by[1] += 0.5 * f64::from(degree - order) * sum;
                }
                by.to_vec()
            }
            (Form::Fourier(frequencies), Covariance::Gaussian { lengths, .. }) => {
                let pairs = frequencies.ncols();
                let (cos, sin) = (features.slice(s![.., ..pairs]), features.slice(s![.., pairs..]));
                let (by_cos, by_sin) =
                    (adjoint.slice(s![.., ..pairs]), adjoint.slice(s![.., pairs..]));
                // The features carry their factor, so their derivatives by the angles do too.
                let by_angles = &by_sin * &cos - &by_cos * &sin;
                let mut by_inputs = Array2::zeros(inputs.dim());
                product(1.0, by_angles.view(), frequencies.t(), 0.0, by_inputs.view_mut());
                let per_column = -(by_inputs * scaled(inputs, lengths)).sum_axis(Axis(0));
                let mut by = vec![(&features * &adjoint).sum()];
                if lengths.len() == 1 {
                    by.push(per_column.sum());
                } else {
                    by.extend(per_column);
                }
                by
            }
            _ => unreachable!("a map is made with its own kernel"),
        }
    }

    pub(super) fn state(&self) -> State {
        let state = State::new().with("kernel", &self.kernel);
        match &self.form {
            Form::Monomials(_) => state,
            Form::Fourier(frequencies) => state.with_array("frequencies", frequencies),
        }
    }

    pub(super) fn restore(state: &State, d: usize) -> Result<Self, LearningError> {
        let kernel: Covariance = state.value("kernel")?;
        if matches!(kernel, Covariance::Polynomial { .. }) {
            return Self::monomials(&kernel, d);
        }
        kernel.check(d).map_err(|error| setting(&error))?;
        let frequencies = state.array::<f64, Ix2>("frequencies")?;
        if !matches!(kernel, Covariance::Gaussian { .. }) || frequencies.nrows() != d {
            let (name, problem) = ("frequencies".to_owned(), "do not fit the kernel".to_owned());
            return Err(LearningError::State { name, problem });
        }
        Ok(Self { kernel, form: Form::Fourier(frequencies) })
    }
}

/// `x/ℓ`.
fn scaled(inputs: ArrayView2<'_, f64>, lengths: &[f64]) -> Array2<f64> {
    let inverse = Array1::from_shape_fn(inputs.ncols(), |j| 1.0 / lengths[j % lengths.len()]);
    &inputs * &inverse
}

/// Lists the exponents of `left` more columns whose sum is at most `rest`.
fn monomials(
    rest: u32,
    chosen: &mut Vec<u32>,
    degree: u32,
    left: usize,
    all: &mut Vec<(Vec<u32>, f64)>,
) {
    if left == 0 {
        let factorial = |k: u32| (1..=k).map(f64::from).product::<f64>();
        let below: f64 = chosen.iter().map(|&e| factorial(e)).product::<f64>() * factorial(rest);
        all.push((chosen.clone(), (factorial(degree) / below).sqrt()));
        return;
    }
    for exponent in 0..=rest {
        chosen.push(exponent);
        monomials(rest - exponent, chosen, degree, left - 1, all);
        chosen.pop();
    }
}
