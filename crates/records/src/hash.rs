use serde::Serialize;
use sha2::{Digest, Sha256};

/// Returns the canonical text of a value. It is JSON without white space, object keys sorted, floats printed with the
/// fewest digits that read back the same.
///
/// ```
/// use mercer_records::canonical;
/// use std::collections::HashMap;
/// let settings = HashMap::from([("lambda", 1e-3), ("epochs", 5.0)]);
/// assert_eq!(canonical(&settings), r#"{"epochs":5.0,"lambda":0.001}"#); // whatever their order was
/// assert_eq!(canonical(&[f64::NAN]), "[null]");
/// ```
///
/// # Panics
/// If the value cannot be JSON (a map with non-string keys): a fault of its type. NaN and
/// infinities become `null`.
pub fn canonical<T: Serialize>(value: &T) -> String {
    // Through `Value`, whose objects are sorted maps.
    let value = serde_json::to_value(value).expect("records serialise to JSON");
    value.to_string()
}

/// Returns the SHA-256 of some bytes, in lower-case hexadecimal.
///
/// ```
/// // FIPS 180-2, appendix B.1.
/// assert_eq!(
///     mercer_records::sha256_hex(b"abc"),
///     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
/// );
/// ```
pub fn sha256_hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
    Sha256::digest(bytes).iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
