//! How the help of a command ends.

/// Two lines that can be typed.
macro_rules! examples {
    ($first:literal, $second:literal $(,)?) => {
        concat!("Examples:\n  mercer ", $first, "\n  mercer ", $second)
    };
}
pub(crate) use examples;
