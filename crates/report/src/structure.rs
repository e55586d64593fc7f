//! A diagram of boxes and arrows: the structure of a method, and no numbers.

use crate::rendered::Head;
use mercer_render::Diagram;
use serde::Deserialize;

/// What is drawn, in the pixels of its size.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Structure {
    size: (f64, f64),
    blocks: Vec<Block>,
    arrows: Vec<Arrow>,
    /// The same on a phone.
    narrow: Option<Box<Self>>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    /// Its middle.
    at: (f64, f64),
    size: (f64, f64),
    text: String,
    /// A place in the palette; grey without one.
    color: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arrow {
    path: Vec<(f64, f64)>,
    #[serde(default)]
    label: String,
    /// For what flows back, or beside the rest.
    #[serde(default)]
    dashed: bool,
}

impl Structure {
    /// The diagram.
    pub(crate) fn diagram(&self, artefact: Head<'_>) -> Diagram {
        let mut diagram =
            Diagram::new(artefact.id, artefact.title, self.size).caption(artefact.caption);
        for Block { at, size, text, color } in &self.blocks {
            diagram = diagram.block(*at, *size, text, *color);
        }
        for Arrow { path, label, dashed } in &self.arrows {
            diagram = diagram.arrow(path.iter().copied(), label, *dashed);
        }
        let diagram = diagram.schematic();
        match &self.narrow {
            Some(narrow) => diagram.narrow(narrow.diagram(artefact)),
            None => diagram,
        }
    }
}
