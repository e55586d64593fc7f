use serde::Serialize;
use sha2::{Digest, Sha256};

/// The canonical text of a value: JSON without white space, object keys sorted, floats printed
/// with the fewest digits that read back the same.
///
/// # Panics
/// If the value cannot be JSON (a map with non-string keys): a fault of its type. NaN and
/// infinities become `null`.
pub fn canonical<T: Serialize>(value: &T) -> String {
    // Through `Value`, whose objects are sorted maps.
    let value = serde_json::to_value(value).expect("records serialise to JSON");
    value.to_string()
}

/// SHA-256 of some bytes, in lower-case hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
