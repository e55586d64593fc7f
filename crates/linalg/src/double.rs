//! Sine, cosine and exponential of double-precision slices, as [`crate::sin_cos`] and
//! [`crate::exp`] dispatch them.
#![expect(
    clippy::inline_always,
    reason = "a body takes on the features of the level that calls it only when inlined there"
)]

use crate::Dispatch;

/// Multiples of the first two parts of `π/2` are exact up to here; larger arguments go to the
/// standard library.
const LARGEST_ANGLE: f64 = 1e6;
/// `e^x` overflows or becomes subnormal beyond.
const LARGEST_EXPONENT: f64 = 708.0;

/// `1.5 · 2^52`: adding it rounds to an integer, which then stands in the low mantissa bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// `π/2 = P1 + P2 + P3`; `P1` and `P2` have 33 bits.
const P1: f64 = 1.570_796_326_734_125_614_17;
const P2: f64 = 6.077_100_506_303_965_976_60e-11;
const P3: f64 = 2.022_266_248_795_950_631_54e-21;
/// `ln 2 = L1 + L2`; `L1` has 32 bits.
const L1: f64 = 6.931_471_803_691_238_164_90e-1;
const L2: f64 = 1.908_214_929_270_587_700_02e-10;

/// `1/k!` with the sign of Taylor's series: of `(sin r − r)/r³` in `r²`, of `(cos r − 1 + r²/2)/r⁴` in `r²`, of
/// `(e^r − 1 − r)/r²` in `r`. The omitted terms are below 5e-17.
const SINE: [f64; 7] = signed_factorials(3, 2, -1.0);
const COSINE: [f64; 7] = signed_factorials(4, 2, 1.0);
const EXPONENTIAL: [f64; 12] = signed_factorials(2, 1, 1.0);

/// `±1/k!` for `k = first, first + step, …`; signs alternate if the step is 2.
const fn signed_factorials<const N: usize>(first: u32, step: u32, sign: f64) -> [f64; N] {
    let mut terms = [0.0; N];
    let (mut index, mut k, mut sign) = (0, first, sign);
    while index < N {
        let (mut factorial, mut factor) = (1.0, 2);
        while factor <= k {
            factorial *= factor as f64;
            factor += 1;
        }
        terms[index] = sign / factorial;
        if step == 2 {
            sign = -sign;
        }
        k += step;
        index += 1;
    }
    terms
}

#[inline(always)]
fn fused<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// `Σ terms[i] x^i` by Horner's rule.
#[inline(always)]
fn polynomial<const FMA: bool, const N: usize>(terms: &[f64; N], x: f64) -> f64 {
    let mut value = terms[N - 1];
    let mut index = N - 1;
    while index > 0 {
        index -= 1;
        value = fused::<FMA>(value, x, terms[index]);
    }
    value
}

#[inline(always)]
fn sin_cos_one<const FMA: bool>(x: f64) -> (f64, f64) {
    let shifted = fused::<FMA>(x, std::f64::consts::FRAC_2_PI, ROUND);
    let quadrant = shifted.to_bits();
    let n = shifted - ROUND;
    let r = fused::<FMA>(-n, P1, x);
    let r = fused::<FMA>(-n, P2, r);
    let r = fused::<FMA>(-n, P3, r);
    let z = r * r;
    let s = fused::<FMA>(z * r, polynomial::<FMA, 7>(&SINE, z), r).to_bits();
    let c = polynomial::<FMA, 7>(&COSINE, z);
    let c = fused::<FMA>(z * z, c, fused::<FMA>(-0.5, z, 1.0)).to_bits();
    let odd = 0u64.wrapping_sub(quadrant & 1);
    let sine = ((s & !odd) | (c & odd)) ^ ((quadrant & 2) << 62);
    let cosine = ((c & !odd) | (s & odd)) ^ ((quadrant.wrapping_add(1) & 2) << 62);
    (f64::from_bits(sine), f64::from_bits(cosine))
}

#[inline(always)]
fn exp_one<const FMA: bool>(x: f64) -> f64 {
    let shifted = fused::<FMA>(x, std::f64::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = fused::<FMA>(-n, L1, x);
    let r = fused::<FMA>(-n, L2, r);
    let p = fused::<FMA>(r * r, polynomial::<FMA, 12>(&EXPONENTIAL, r), r) + 1.0;
    let scale = (shifted.to_bits() << 52).wrapping_add(1.0f64.to_bits());
    p * f64::from_bits(scale)
}

/// Whether every entry is at most `limit` in size; NaN is not.
#[inline(always)]
fn within(x: &[f64], limit: f64) -> bool {
    x.iter().fold(true, |all, x| all & (x.abs() <= limit))
}

/// The standard library's functions, which the compiler must not see through: it would call them
/// for every entry of a loop and then throw away what was not asked for.
#[inline(never)]
fn library_sin_cos(x: f64) -> (f64, f64) {
    x.sin_cos()
}

#[inline(never)]
fn library_cos(x: f64) -> f64 {
    x.cos()
}

#[inline(never)]
fn library_exp(x: f64) -> f64 {
    x.exp()
}

#[inline(always)]
fn sin_cos_body<const FMA: bool>(x: &[f64], sin: &mut [f64], cos: &mut [f64]) {
    for ((&x, sin), cos) in x.iter().zip(sin.iter_mut()).zip(cos.iter_mut()) {
        (*sin, *cos) = sin_cos_one::<FMA>(x);
    }
    if within(x, LARGEST_ANGLE) {
        return;
    }
    for ((&x, sin), cos) in x.iter().zip(sin).zip(cos) {
        if x.is_nan() || x.abs() > LARGEST_ANGLE {
            (*sin, *cos) = library_sin_cos(x);
        }
    }
}

#[inline(always)]
fn cos_body<const FMA: bool>(x: &[f64], cos: &mut [f64]) {
    for (&x, cos) in x.iter().zip(cos.iter_mut()) {
        *cos = sin_cos_one::<FMA>(x).1;
    }
    if within(x, LARGEST_ANGLE) {
        return;
    }
    for (&x, cos) in x.iter().zip(cos) {
        if x.is_nan() || x.abs() > LARGEST_ANGLE {
            *cos = library_cos(x);
        }
    }
}

#[inline(always)]
fn exp_body<const FMA: bool>(x: &[f64], exp: &mut [f64]) {
    for (&x, exp) in x.iter().zip(exp.iter_mut()) {
        *exp = exp_one::<FMA>(x);
    }
    if within(x, LARGEST_EXPONENT) {
        return;
    }
    for (&x, exp) in x.iter().zip(exp) {
        if x.is_nan() || x.abs() > LARGEST_EXPONENT {
            *exp = library_exp(x);
        }
    }
}

macro_rules! at_every_level {
    ($(fn $name:ident = $body:ident($($arg:ident: $ty:ty),*);)*) => {
        $(pub(crate) fn $name(level: Dispatch, $($arg: $ty),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,fma")]
            fn avx512($($arg: $ty),*) {
                $body::<true>($($arg),*);
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($arg: $ty),*) {
                $body::<true>($($arg),*);
            }
            match level {
                // SAFETY: this level is only reported on a processor that has the features.
                #[cfg(target_arch = "x86_64")]
                Dispatch::Avx512 => unsafe { avx512($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                Dispatch::Avx2 => unsafe { avx2($($arg),*) },
                _ => $body::<false>($($arg),*),
            }
        })*
    };
}

at_every_level! {
    fn sin_cos = sin_cos_body(x: &[f64], sin: &mut [f64], cos: &mut [f64]);
    fn cos = cos_body(x: &[f64], cos: &mut [f64]);
    fn exp = exp_body(x: &[f64], exp: &mut [f64]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance in units of the last place of the standard library's result, itself within one.
    fn ulps(found: f64, truth: f64) -> f64 {
        (found - truth).abs() / (truth.abs().next_up() - truth.abs())
    }

    #[test]
    fn entries_beyond_the_limit_are_the_library_s_alone_and_among_others() {
        for level in Dispatch::available() {
            let large = [3.0 * LARGEST_ANGLE, -1e300, f64::INFINITY, f64::NAN];
            let among = [0.5, large[0], -1.25, large[1], large[2], 3.0, large[3]];
            for x in [&large[..], &large[..2], &among] {
                let (mut s, mut c) = (vec![0.0; x.len()], vec![0.0; x.len()]);
                let mut only = vec![0.0; x.len()];
                sin_cos(level, x, &mut s, &mut c);
                cos(level, x, &mut only);
                for (i, &x) in x.iter().enumerate() {
                    for (found, truth) in [(s[i], x.sin()), (c[i], x.cos()), (only[i], x.cos())] {
                        let alike = found.is_nan() && truth.is_nan();
                        assert!(
                            alike || ulps(found, truth) <= 2.0,
                            "{level:?} {x} {found} {truth}"
                        );
                    }
                }
            }
            let powers = [800.0, -800.0, f64::INFINITY, f64::NEG_INFINITY];
            let mut to = [1.0; 4];
            exp(level, &powers, &mut to);
            assert_eq!(to.map(f64::to_bits), powers.map(|x| x.exp().to_bits()), "{level:?}");
        }
    }

    #[test]
    fn sine_and_cosine_are_within_two_ulp_on_every_level() {
        let mut x: Vec<f64> = (0..400_000).map(|i| (f64::from(i) - 200_000.0) * 4.9e-5).collect();
        x.extend((0..200_000).map(|i| (f64::from(i) - 100_000.0) * 9.99));
        for n in 0..200_000u32 {
            let centre = f64::from(n) * std::f64::consts::FRAC_PI_4;
            x.extend([centre, -centre.next_up(), centre.next_down()]);
        }
        for level in Dispatch::available() {
            let (mut s, mut c) = (vec![0.0; x.len()], vec![0.0; x.len()]);
            let mut only = vec![0.0; x.len()];
            sin_cos(level, &x, &mut s, &mut c);
            cos(level, &x, &mut only);
            assert_eq!(c, only);
            for (i, &x) in x.iter().enumerate() {
                for (found, truth) in [(s[i], x.sin()), (c[i], x.cos())] {
                    let near = (found - truth).abs() < 1e-16;
                    assert!(near || ulps(found, truth) <= 2.0, "{level:?} {x} {found} {truth}");
                }
            }
        }
    }

    #[test]
    fn exp_is_within_two_ulp_on_every_level() {
        let x: Vec<f64> = (0..1_000_000).map(|i| (f64::from(i) - 500_000.0) * 1.4e-3).collect();
        for level in Dispatch::available() {
            let mut y = vec![0.0; x.len()];
            exp(level, &x, &mut y);
            for (&x, &y) in x.iter().zip(&y) {
                assert!(ulps(y, x.exp()) <= 2.0, "{level:?} {x} {y}");
            }
        }
    }

    /// On the levels with vectors a loop of ours takes less than half the library's time, by the best of many tries. It
    /// took all of it when the compiler called the library for every entry.
    #[test]
    fn the_library_is_not_called_where_it_is_not_needed() {
        type Loop = fn(Dispatch, &[f64], &mut [f64]);
        type Library = fn(f64) -> f64;
        let x: Vec<f64> = (0..4096).map(|i| f64::from(i) * 1e-3).collect();
        let mut y = vec![0.0; x.len()];
        let mut best = |work: &mut dyn FnMut(&mut [f64])| {
            let times = (0..50).map(|_| {
                let start = std::time::Instant::now();
                work(std::hint::black_box(&mut y));
                start.elapsed()
            });
            times.min().expect("fifty times")
        };
        let pairs: [(Loop, Library); 3] = [
            (cos, f64::cos),
            (exp, f64::exp),
            (|level, x, y| sin_cos(level, x, &mut y.to_vec(), y), f64::cos),
        ];
        for (index, (ours, library)) in pairs.into_iter().enumerate() {
            let theirs = best(&mut |y| {
                for (y, &x) in y.iter_mut().zip(std::hint::black_box(&x)) {
                    *y = library(x);
                }
            });
            for level in Dispatch::available() {
                if matches!(level, Dispatch::Baseline) {
                    continue;
                }
                let time = best(&mut |y| ours(level, std::hint::black_box(&x), y));
                assert!(2 * time < theirs, "{index} {level:?}: {time:?}, the library {theirs:?}");
            }
        }
    }

    #[test]
    fn huge_and_non_finite_arguments_are_the_standard_library_s() {
        let x = [1.5e6, -3e17, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.25];
        for level in Dispatch::available() {
            let (mut s, mut c, mut e) = ([0.0; 7], [0.0; 7], [0.0; 7]);
            sin_cos(level, &x, &mut s, &mut c);
            exp(level, &x, &mut e);
            for i in 0..6 {
                assert_eq!(s[i].to_bits(), x[i].sin().to_bits(), "{}", x[i]);
                assert_eq!(c[i].to_bits(), x[i].cos().to_bits(), "{}", x[i]);
            }
            assert_eq!(e[..5], [f64::INFINITY, 0.0, f64::INFINITY, f64::INFINITY, 0.0]);
            assert!(e[5].is_nan() && ulps(e[6], 0.25f64.exp()) <= 2.0);
        }
    }
}
