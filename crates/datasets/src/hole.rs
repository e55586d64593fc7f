//! A missing number as a NaN whose low bits number the spelling of its text.

/// The number that a missing one is, by the place of its text among the spellings; by `None` nothing stood there.
pub(crate) fn hole(spelling: Option<usize>) -> f64 {
    f64::from_bits(f64::NAN.to_bits() | spelling.map_or(0, |at| at as u64 + 1))
}

/// The place among the spellings of the text that stood where a number is missing, if one did.
pub(crate) fn spelling(missing: f64) -> Option<usize> {
    let low = missing.to_bits() & 0xffff;
    if missing.is_nan() { (low as usize).checked_sub(1) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_is_no_number_and_keeps_what_stood_there() {
        for spelled in [None, Some(0), Some(16), Some(300)] {
            assert!(hole(spelled).is_nan());
            assert_eq!(spelling(hole(spelled)), spelled);
        }
        assert_eq!((spelling(1.5), spelling(f64::NAN)), (None, None));
    }
}
