#![expect(
    clippy::inline_always,
    reason = "a body takes on the features of the level that calls it only when inlined there"
)]

use crate::{Dispatch, Real, dispatch, double};

/// Arguments up to this size are reduced in single precision; larger ones go to the standard
/// library, which is correct for every finite number.
const LARGEST_ANGLE: f32 = 1e4;
/// `e^x` overflows or becomes subnormal beyond; such arguments go to the standard library.
const LARGEST_EXPONENT: f32 = 87.0;

/// `1.5 · 2^23`: adding it rounds to an integer, which then stands in the low mantissa bits.
const ROUND: f32 = 12_582_912.0;
/// `π/2 = P1 + P2 + P3` to 2^-53; `P1` and `P2` have so few digits that multiples are exact.
const P1: f32 = 1.570_312_5;
const P2: f32 = 4.837_512_97e-4;
const P3: f32 = 7.549_789_95e-8;
/// Minimax on `|r| ≤ π/4`: `sin r ≈ r + r³ (S0 + S1 r² + S2 r⁴)`, relative error 3.8e-9.
const S: [f32; 3] =
    [-0.166_666_546_022_610_63, 0.008_332_160_290_908_955, -0.000_195_152_179_830_819_16];
/// Minimax on `|r| ≤ π/4`: `cos r ≈ 1 − r²/2 + r⁴ (C0 + C1 r² + C2 r⁴)`, relative error 1.2e-10.
const C: [f32; 3] =
    [0.041_666_645_670_136_615, -0.001_388_731_561_557_834_1, 2.443_308_258_153_473_8e-5];
/// `ln 2 = L1 + L2`; multiples of `L1` up to 2^9 are exact.
const L1: f32 = 0.693_359_375;
const L2: f32 = -2.121_944_4e-4;
/// Minimax on `|r| ≤ ln 2 / 2`: `e^r ≈ 1 + r + r² (E0 + … + E4 r⁴)`, relative error 3.1e-9.
const E: [f32; 5] = [
    0.499_999_934_477_754_6,
    0.166_665_206_314_855_35,
    0.041_668_388_048_587_635,
    0.008_368_716_907_153_568,
    0.001_381_459_859_328_583_8,
];

/// Writes the sines and cosines of `x` (radians).
///
/// In `f32`: at most 2 ulp where the result exceeds 1e-3 and 1e-7 absolute elsewhere for
/// `|x| ≤ 1e4`. In `f64`: at most 2 ulp for `|x| ≤ 1e6`. The standard library beyond; NaN for
/// NaN and infinities.
///
/// ```
/// let (mut sin, mut cos) = ([0.0f32; 2], [0.0; 2]);
/// mercer_linalg::sin_cos(&[0.5, -3.0], &mut sin, &mut cos);
/// assert!((sin[0] - 0.479_425_55).abs() < 1e-7 && (cos[1] + 0.989_992_5).abs() < 1e-7);
/// ```
///
/// # Panics
/// If the lengths differ.
pub fn sin_cos<F: Real>(x: &[F], sin: &mut [F], cos: &mut [F]) {
    assert!(x.len() == sin.len() && x.len() == cos.len(), "lengths of sin_cos");
    F::sin_cos_slice(x, sin, cos);
}

/// Writes the cosines of `x` (radians); accuracy as [`sin_cos`].
///
/// ```
/// let mut cosines = [0.0; 2];
/// mercer_linalg::cos(&[0.0, std::f64::consts::PI], &mut cosines);
/// assert_eq!(cosines, [1.0, -1.0]);
/// ```
///
/// # Panics
/// If the lengths differ.
pub fn cos<F: Real>(x: &[F], cos: &mut [F]) {
    assert_eq!(x.len(), cos.len(), "lengths of cos");
    F::cos_slice(x, cos);
}

/// Writes `e^x`.
///
/// At most 2 ulp for `|x| ≤ 87` in `f32` and `|x| ≤ 708` in `f64`; the standard library beyond.
///
/// ```
/// let mut powers = [0.0; 2];
/// mercer_linalg::exp(&[0.0, 1.0], &mut powers);
/// assert!((powers[0], (powers[1] - std::f64::consts::E).abs() < 1e-15) == (1.0, true));
/// ```
///
/// # Panics
/// If the lengths differ.
pub fn exp<F: Real>(x: &[F], exp: &mut [F]) {
    assert_eq!(x.len(), exp.len(), "lengths of exp");
    F::exp_slice(x, exp);
}

#[inline(always)]
fn fused<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// Sine and cosine without a branch: reduction by multiples of `π/2` (Cody and Waite), two
/// polynomials, exchange and signs by the quadrant's bits.
#[inline(always)]
fn sin_cos_one<const FMA: bool>(x: f32) -> (f32, f32) {
    let shifted = fused::<FMA>(x, std::f32::consts::FRAC_2_PI, ROUND);
    let quadrant = shifted.to_bits();
    let n = shifted - ROUND;
    let r = fused::<FMA>(-n, P1, x);
    let r = fused::<FMA>(-n, P2, r);
    let r = fused::<FMA>(-n, P3, r);
    let z = r * r;
    let s = fused::<FMA>(fused::<FMA>(S[2], z, S[1]), z, S[0]);
    let s = fused::<FMA>(z * r, s, r).to_bits();
    let c = fused::<FMA>(fused::<FMA>(C[2], z, C[1]), z, C[0]);
    let c = fused::<FMA>(z * z, c, fused::<FMA>(-0.5, z, 1.0)).to_bits();
    let odd = 0u32.wrapping_sub(quadrant & 1);
    let sine = ((s & !odd) | (c & odd)) ^ ((quadrant & 2) << 30);
    let cosine = ((c & !odd) | (s & odd)) ^ ((quadrant.wrapping_add(1) & 2) << 30);
    (f32::from_bits(sine), f32::from_bits(cosine))
}

/// `e^x = 2^n e^r`, `|r| ≤ ln 2 / 2`.
#[inline(always)]
fn exp_one<const FMA: bool>(x: f32) -> f32 {
    let shifted = fused::<FMA>(x, std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = fused::<FMA>(-n, L1, x);
    let r = fused::<FMA>(-n, L2, r);
    let p = fused::<FMA>(fused::<FMA>(E[4], r, E[3]), r, E[2]);
    let p = fused::<FMA>(fused::<FMA>(p, r, E[1]), r, E[0]);
    let p = fused::<FMA>(r * r, p, r) + 1.0;
    let scale = (shifted.to_bits() << 23).wrapping_add(1.0f32.to_bits());
    p * f32::from_bits(scale)
}

#[inline(always)]
fn sin_cos_body<const FMA: bool>(x: &[f32], sin: &mut [f32], cos: &mut [f32]) {
    for ((&x, sin), cos) in x.iter().zip(sin.iter_mut()).zip(cos.iter_mut()) {
        (*sin, *cos) = sin_cos_one::<FMA>(x);
    }
}

#[inline(always)]
fn cos_body<const FMA: bool>(x: &[f32], cos: &mut [f32]) {
    for (&x, cos) in x.iter().zip(cos.iter_mut()) {
        *cos = sin_cos_one::<FMA>(x).1;
    }
}

#[inline(always)]
fn exp_body<const FMA: bool>(x: &[f32], exp: &mut [f32]) {
    for (&x, exp) in x.iter().zip(exp.iter_mut()) {
        *exp = exp_one::<FMA>(x);
    }
}

/// Whether every entry is at most `limit` in size; NaN is not.
#[inline(always)]
fn within_body(x: &[f32], limit: f32) -> bool {
    x.iter().fold(true, |all, x| all & (x.abs() <= limit))
}

/// The three levels of each loop: the bodies above, compiled with the features of the level.
#[cfg(target_arch = "x86_64")]
mod compiled {
    macro_rules! levels {
        ($($name:ident, $body:ident ($($arg:ident: $ty:ty),*) $(-> $out:ty)?, $($flag:literal)?;)*) => {
            $(pub(super) mod $name {
                #[target_feature(enable = "avx512f,fma")]
                pub(in super::super) fn avx512($($arg: $ty),*) $(-> $out)? {
                    super::super::$body$(::<$flag>)?($($arg),*)
                }
                #[target_feature(enable = "avx2,fma")]
                pub(in super::super) fn avx2($($arg: $ty),*) $(-> $out)? {
                    super::super::$body$(::<$flag>)?($($arg),*)
                }
            })*
        };
    }
    levels! {
        sin_cos, sin_cos_body(x: &[f32], sin: &mut [f32], cos: &mut [f32]), true;
        cos, cos_body(x: &[f32], cos: &mut [f32]), true;
        exp, exp_body(x: &[f32], exp: &mut [f32]), true;
        within, within_body(x: &[f32], limit: f32) -> bool, ;
    }
}

macro_rules! at_level {
    ($level:expr, $name:ident, $baseline:expr, ($($arg:expr),*)) => {
        match $level {
            // SAFETY: this level is only reported on a processor that has the features.
            #[cfg(target_arch = "x86_64")]
            Dispatch::Avx512 => unsafe { compiled::$name::avx512($($arg),*) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Dispatch::Avx2 => unsafe { compiled::$name::avx2($($arg),*) },
            _ => $baseline($($arg),*),
        }
    };
}

fn within(level: Dispatch, x: &[f32], limit: f32) -> bool {
    at_level!(level, within, within_body, (x, limit))
}

/// The standard library's functions, for single entries: the compiler must not see through them and
/// call them for all.
#[inline(never)]
fn library_sin_cos(x: f32) -> (f32, f32) {
    x.sin_cos()
}

#[inline(never)]
fn library_cos(x: f32) -> f32 {
    x.cos()
}

#[inline(never)]
fn library_exp(x: f32) -> f32 {
    x.exp()
}

fn sin_cos_at(level: Dispatch, x: &[f32], sin: &mut [f32], cos: &mut [f32]) {
    at_level!(level, sin_cos, sin_cos_body::<false>, (x, sin, cos));
    if !within(level, x, LARGEST_ANGLE) {
        for ((&x, sin), cos) in x.iter().zip(sin).zip(cos) {
            if x.is_nan() || x.abs() > LARGEST_ANGLE {
                (*sin, *cos) = library_sin_cos(x);
            }
        }
    }
}

fn cos_at(level: Dispatch, x: &[f32], cos: &mut [f32]) {
    at_level!(level, cos, cos_body::<false>, (x, cos));
    if !within(level, x, LARGEST_ANGLE) {
        for (&x, cos) in x.iter().zip(cos) {
            if x.is_nan() || x.abs() > LARGEST_ANGLE {
                *cos = library_cos(x);
            }
        }
    }
}

fn exp_at(level: Dispatch, x: &[f32], exp: &mut [f32]) {
    at_level!(level, exp, exp_body::<false>, (x, exp));
    if !within(level, x, LARGEST_EXPONENT) {
        for (&x, exp) in x.iter().zip(exp) {
            if x.is_nan() || x.abs() > LARGEST_EXPONENT {
                *exp = library_exp(x);
            }
        }
    }
}

impl Real for f32 {
    fn of(x: f64) -> Self {
        x as Self
    }
    fn wide(self) -> f64 {
        f64::from(self)
    }
    fn sin_cos_slice(x: &[Self], sin: &mut [Self], cos: &mut [Self]) {
        sin_cos_at(dispatch(), x, sin, cos);
    }
    fn cos_slice(x: &[Self], cos: &mut [Self]) {
        cos_at(dispatch(), x, cos);
    }
    fn exp_slice(x: &[Self], exp: &mut [Self]) {
        exp_at(dispatch(), x, exp);
    }
}

impl Real for f64 {
    fn of(x: f64) -> Self {
        x
    }
    fn wide(self) -> f64 {
        self
    }
    fn sin_cos_slice(x: &[Self], sin: &mut [Self], cos: &mut [Self]) {
        double::sin_cos(dispatch(), x, sin, cos);
    }
    fn cos_slice(x: &[Self], cos: &mut [Self]) {
        double::cos(dispatch(), x, cos);
    }
    fn exp_slice(x: &[Self], exp: &mut [Self]) {
        double::exp(dispatch(), x, exp);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance of two `f32`-rounded results in units of the last place of the true one.
    fn ulps(found: f32, truth: f64) -> f64 {
        let spacing = 2f64.powi(truth.abs().log2().floor() as i32 - 23);
        (f64::from(found) - truth).abs() / spacing
    }

    /// Dense near 0, dense around multiples of π/4, and over the whole range.
    fn angles() -> Vec<f32> {
        let mut x: Vec<f32> = (0..400_000).map(|i| (i as f32 - 200_000.0) * 0.05).collect();
        x.extend((0..400_000).map(|i| (i as f32 - 200_000.0) * 1.1e-4));
        for n in 0..12_700u16 {
            let centre = (f64::from(n) * std::f64::consts::FRAC_PI_4) as f32;
            for step in -3i32..=3 {
                let near =
                    f32::from_bits((centre.to_bits() as i32).saturating_add(step).max(0) as u32);
                x.extend([near, -near]);
            }
        }
        x.retain(|x| x.abs() <= LARGEST_ANGLE);
        x
    }

    #[test]
    fn sine_and_cosine_are_within_two_ulp_on_every_level() {
        let x = angles();
        for level in Dispatch::available() {
            let (mut sin, mut cos) = (vec![0.0; x.len()], vec![0.0; x.len()]);
            let mut only = vec![0.0; x.len()];
            sin_cos_at(level, &x, &mut sin, &mut cos);
            cos_at(level, &x, &mut only);
            assert_eq!(cos, only);
            for (i, &x) in x.iter().enumerate() {
                for (found, truth) in [(sin[i], f64::from(x).sin()), (cos[i], f64::from(x).cos())] {
                    assert!((f64::from(found) - truth).abs() <= 1e-7, "{level:?} {x} {found}");
                    if truth.abs() > 1e-3 {
                        assert!(ulps(found, truth) <= 2.0, "{level:?} {x} {found} {truth}");
                    }
                }
            }
        }
    }

    #[test]
    fn exp_is_within_two_ulp_on_every_level() {
        let x: Vec<f32> = (0..1_740_001).map(|i| (i as f32 - 870_000.0) * 1e-4).collect();
        let x: Vec<f32> = x.into_iter().filter(|x| x.abs() <= LARGEST_EXPONENT).collect();
        for level in Dispatch::available() {
            let mut y = vec![0.0; x.len()];
            exp_at(level, &x, &mut y);
            for (&x, &y) in x.iter().zip(&y) {
                assert!(ulps(y, f64::from(x).exp()) <= 2.0, "{level:?} {x} {y}");
            }
        }
    }

    #[test]
    fn either_precision_fills_what_it_is_given() {
        fn filled<F: Real>(epsilon: f64) {
            let x: Vec<F> = (0..37).map(|i| F::of(0.5 - f64::from(i) / 3.0)).collect();
            let untouched = || vec![F::of(9.0); 37];
            let (mut sin, mut cosine, mut alone, mut power) =
                (untouched(), untouched(), untouched(), untouched());
            sin_cos(&x, &mut sin, &mut cosine);
            cos(&x, &mut alone);
            exp(&x, &mut power);
            for (i, x) in x.iter().map(|x| x.wide()).enumerate() {
                for (found, true_value) in [
                    (sin[i], x.sin()),
                    (cosine[i], x.cos()),
                    (alone[i], x.cos()),
                    (power[i], x.exp()),
                ] {
                    assert!((found.wide() - true_value).abs() < epsilon, "{x}: {}", found.wide());
                }
            }
        }
        filled::<f32>(3e-7);
        filled::<f64>(1e-15);
    }

    #[test]
    fn huge_and_non_finite_arguments_are_the_standard_library_s() {
        let x = [1.5e4f32, -3e7, 1e30, f32::MAX, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 0.25];
        for level in Dispatch::available() {
            let (mut sin, mut cos, mut exp) = ([0.0; 8], [0.0; 8], [0.0; 8]);
            cos_at(level, &x, &mut cos);
            for i in 0..7 {
                assert_eq!(cos[i].to_bits(), x[i].cos().to_bits(), "alone: {}", x[i]);
            }
            sin_cos_at(level, &x, &mut sin, &mut cos);
            exp_at(level, &x, &mut exp);
            for i in 0..7 {
                assert_eq!(sin[i].to_bits(), x[i].sin().to_bits(), "{}", x[i]);
                assert_eq!(cos[i].to_bits(), x[i].cos().to_bits(), "{}", x[i]);
            }
            assert!((cos[7] - 0.25f32.cos()).abs() < 1e-7);
            assert_eq!(
                exp[..6],
                [f32::INFINITY, 0.0, f32::INFINITY, f32::INFINITY, f32::INFINITY, 0.0]
            );
            assert!(exp[6].is_nan());
        }
    }
}
