//! The small datasets of the repository, inside the binary.

use crate::manifest::{Listing, Manifest};
use std::path::Path;
use std::sync::LazyLock;

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

static LISTED: LazyLock<Manifest> = LazyLock::new(|| {
    Manifest::parse(include_str!("../../../data/MANIFEST.toml"))
        .expect("the tests read the manifest that is compiled in")
});

/// Returns the listing of a dataset all of whose files are inside the binary.
pub(crate) fn listed(name: &str) -> Option<&'static Listing> {
    let whole = |listing: &&Listing| listing.files.iter().all(|file| bytes(&file.path).is_some());
    LISTED.find(name).filter(whole)
}

/// Returns the bytes of a file, by its path in the folder `data`.
pub(crate) fn bytes(path: &Path) -> Option<&'static [u8]> {
    FILES.iter().find(|(name, _)| Path::new(name) == path).map(|(_, bytes)| *bytes)
}
