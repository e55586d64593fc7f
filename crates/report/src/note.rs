//! A method of ours, written out like a short paper.

use crate::finding::front_matter;
use crate::query::{Query, spelled};
use crate::{ExperimentError, RenderContext};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A page of text whose numbers are queries, answered anew each time.
pub(crate) struct Note {
    /// Its page without an ending: `hyper/linear-time` for `notes/hyper-linear-time.md`.
    pub id: String,
    /// The artefact with which it is written.
    pub beside: String,
    numbers: BTreeMap<String, Query>,
    body: &'static str,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Front {
    beside: String,
    numbers: BTreeMap<String, Query>,
}

impl Note {
    pub(crate) fn parse(name: &str, text: &'static str) -> Result<Self, ExperimentError> {
        let file = format!("notes/{name}.md");
        let (Front { beside, numbers }, body) = front_matter(&file, text)?;
        let mut bare = body.to_owned();
        for name in numbers.keys() {
            let hole = format!("{{{name}}}");
            if !bare.contains(&hole) {
                let reason = format!("`{name}` is asked for but not used");
                return Err(ExperimentError::Form { file, reason });
            }
            bare = bare.replace(&hole, "");
        }
        if bare.contains(['{', '}']) || !bare.starts_with("# ") {
            let reason = "it must begin with a title, and each hole needs a query".to_owned();
            return Err(ExperimentError::Form { file, reason });
        }
        Ok(Self { id: name.replacen('-', "/", 1), beside, numbers, body })
    }

    pub(crate) fn title(&self) -> &str {
        self.body.lines().next().unwrap_or_default().trim_start_matches("# ")
    }

    /// The text with every number filled in; one without records reads "(not run)".
    pub(crate) fn text(&self, context: &RenderContext<'_>) -> Result<String, ExperimentError> {
        spelled(self.body, &self.numbers, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_has_a_title_and_a_query_for_each_hole() {
        let text = "+++\nbeside = \"toy/table1\"\n[numbers]\nright = { cell = \"toy/table1:printed:a:zoo\" }\n+++\n# Toys\n\nAll {right}.\n";
        let note = Note::parse("toy-all-of-them", text).unwrap();
        assert_eq!((note.id.as_str(), note.title()), ("toy/all-of-them", "Toys"));
        let fault = |text: &'static str| Note::parse("toy-all", text).err().unwrap().to_string();
        let of = |from: &str, to: &str| -> &'static str { text.replace(from, to).leak() };
        assert!(fault(of("{right}", "right")).contains("`right` is asked for but not used"));
        assert!(fault(of("All", "{wrong}")).contains("each hole needs a query"));
        assert!(fault(of("# Toys", "Toys")).contains("must begin with a title"));
        assert!(fault("# Toys").contains("notes/toy-all.md"));
    }
}
