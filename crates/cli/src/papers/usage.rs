//! A command line that cannot be carried out as it stands.

/// A cell, a task or a search that does not exist: another try would fail the same way.
#[derive(Debug, Clone)]
pub(crate) struct WrongUsage(pub(crate) String);

impl std::fmt::Display for WrongUsage {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for WrongUsage {}
