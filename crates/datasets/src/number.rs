/// Powers of ten that `f64` holds exactly.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// What stands between thousands, beside points and commas.
pub(crate) const MARKS: [char; 8] =
    [' ', '\'', '’', '\u{a0}', '\u{202f}', '\u{2007}', '\u{2009}', '˙'];

/// The minus of typeset tables, U+2212.
const MINUS: &[u8] = "\u{2212}".as_bytes();

/// The decimal number at the start of `bytes` and its length, or `None` if there is none.
///
/// Accepts `[+-] digits [. digits] [(e|E) [+-] digits]` with digits on at least one side of the
/// point, and returns the `f64` nearest to it, ties to even, exactly as [`str::parse`] does; what
/// overflows is infinite. `nan` and `inf` are no numbers here. What follows is not looked at. `−` (U+2212) is
/// a minus too.
///
/// With a mantissa below `2^53` and `|exponent| ≤ 22` one correctly rounded multiplication or
/// division of two exact numbers gives the answer (Clinger 1990); anything else is left to the
/// standard library.
#[inline]
pub(crate) fn number(bytes: &[u8]) -> Option<(f64, usize)> {
    let negative = bytes.first() == Some(&b'-');
    let start = usize::from(negative || bytes.first() == Some(&b'+'));
    let (mut at, mut mantissa, mut digits, mut point) = (start, 0u64, 0usize, None);
    while let Some(&byte) = bytes.get(at) {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            // At most 19 digits fit; leading zeros count too, which costs speed but never truth.
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
            digits += 1;
        } else if byte == b'.' && point.is_none() {
            point = Some(digits);
        } else {
            break;
        }
        at += 1;
    }
    if digits == 0 {
        let size = bytes.strip_prefix(MINUS).filter(|size| {
            size.first().is_some_and(|first| first.is_ascii_digit() || *first == b'.')
        })?;
        return number(size).map(|(size, at)| (-size, MINUS.len() + at));
    }
    // A short whole number: most of what stands in most files.
    if point.is_none() && digits <= 15 && !matches!(bytes.get(at), Some(b'e' | b'E')) {
        let size = mantissa as f64;
        return Some((if negative { -size } else { size }, at));
    }
    let fraction = point.map_or(0, |before| digits - before);
    let mut exponent = 0i64;
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = bytes.get(at + 1).copied();
        let first = at + 1 + usize::from(matches!(sign, Some(b'+' | b'-')));
        let mut end = first;
        while let Some(digit) = bytes.get(end).filter(|byte| byte.is_ascii_digit()) {
            exponent = exponent.saturating_mul(10).saturating_add(i64::from(digit - b'0'));
            end += 1;
        }
        if end == first {
            return None;
        }
        if sign == Some(b'-') {
            exponent = -exponent;
        }
        at = end;
    }
    let scale = exponent.saturating_sub(fraction as i64);
    if digits <= 19 && mantissa <= 1 << 53 && scale.unsigned_abs() <= 22 {
        let power = TENS[scale.unsigned_abs() as usize];
        let size = if scale < 0 { mantissa as f64 / power } else { mantissa as f64 * power };
        return Some((if negative { -size } else { size }, at));
    }
    let text = std::str::from_utf8(&bytes[..at]).ok()?;
    Some((text.parse().ok()?, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn agrees(text: &str) {
        let (ours, length) = number(text.as_bytes()).unwrap();
        let theirs: f64 = text.parse().unwrap();
        assert_eq!(ours.to_bits(), theirs.to_bits(), "{text}");
        assert_eq!(length, text.len(), "{text}");
    }

    #[test]
    fn hard_and_easy_numbers_are_those_of_the_standard_library() {
        for text in [
            "0",
            "-0",
            "+1",
            "1.",
            ".5",
            "-.5e-3",
            "9007199254740993",
            "9007199254740992e22",
            "1e23",
            "1e-22",
            "123456789012345678901234567890",
            "0.1",
            "2.2250738585072011e-308",
            "4.9e-324",
            "1e400",
            "-1e400",
            "1e-400",
            "0.000000000000000000000000000000012345",
            "1e99999999999999999999",
            "0e99999999999999999999",
            "1.7976931348623157e308",
        ] {
            agrees(text);
        }
        assert_eq!(number("−6.75,".as_bytes()), Some((-6.75, 7)));
        assert_eq!(
            (number("−".as_bytes()), number("−−1".as_bytes()), number("−-1".as_bytes())),
            (None, None, None)
        );
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in ["", "+", "-", ".", "e5", "nan", "inf", "-inf", "1e", "1e+", "x", "--1"] {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
        assert_eq!(number(b"1.5:2"), Some((1.5, 3)));
        assert_eq!(number(b"1.5.2"), Some((1.5, 3)));
    }

    proptest! {
        #[test]
        fn every_text_parses_to_the_same_bits(text in "[+-]?[0-9]{1,25}(\\.[0-9]{0,25})?([eE][+-]?[0-9]{1,3})?") {
            agrees(&text);
        }

        #[test]
        fn every_double_survives_printing(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            agrees(&format!("{value}"));
            agrees(&format!("{value:e}"));
            agrees(&format!("{value:.6}"));
        }
    }
}
