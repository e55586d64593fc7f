//! What is shown of a toy study by each kind of table and figure, and what a wrong file is told.

use crate::made_up;
use mercer_experiments::{catalogue, plannable};
use mercer_harness::{Selection, Spec, plan};
use mercer_render::{Diagram, Shape};
use mercer_report::{
    Catalogue, Declared, Drawing, ExperimentError, RecordSet, RenderContext, Rendered, Texts,
};
use std::collections::BTreeMap;
use std::path::Path;

const STUDY: &str = r#"
artefact = "toy/table1"
question = "Which of two ends first?"
seed = 1
repeats = 3
datasets = ["wine", "iris"]
[protocol]
split = { kind = "random", train = 0.8 }
[dataset.wine]
look_every = 10
[[variants]]
name = "one"
summary = "as it is"
methods = [{ name = "sk" }, { name = "nsk" }]
[[variants]]
name = "two"
summary = "and again"
methods = [{ name = "sk" }]
"#;

/// A catalogue of one study and one artefact, which ends so.
fn toy(rest: &str) -> Result<&'static Catalogue, ExperimentError> {
    let artefact = format!("order = 1\ntitle = 'Toys'\nstudies = ['toy/table1']\n{rest}");
    let artefact: &'static str = artefact.leak();
    let all = Catalogue::new(Declared {
        sections: &[("toy", "Toys")],
        papers: &[],
        artefacts: Box::leak(Box::new([("toy-table1", artefact)])),
        renderers: &[],
        simulations: &[],
        timings: &[],
        curves: &[],
        ratios: &[],
        studies: &[("toy-table1", STUDY)],
        published: &[],
        claims: &[],
        findings: &[],
        notes: &[],
        scalars: &[],
        before: "",
        texts: Texts { title: "", subtitle: "", commands: "", chapters: &[], tours: &[] },
    });
    Ok(Box::leak(Box::new(all?)))
}

/// What it shows of two repeats of every trial, or of no record.
fn shown(rest: &str, run: bool) -> Result<Rendered, ExperimentError> {
    let (methods, missing) = (plannable(), BTreeMap::new());
    let selection = Selection { repeats: Some(2), ..Selection::default() };
    let spec = Spec::parse(STUDY, Path::new("toy.toml")).unwrap();
    let mut records = RecordSet::new();
    if run {
        let trials = plan(&spec, &methods, "paper", &selection, &|_| None).unwrap();
        records.add(trials.iter().map(made_up::record));
    }
    let all = toy(rest)?;
    let context = RenderContext::new(all, &records, &methods, "paper", &selection, &missing);
    all.artefacts()[0].render(&context)
}

const FACTS: &str = r#"
[[facts]]
rows = [{ datasets = "toy/table1" }, { variants = "toy/table1" }]
section = "{dataset}"
cell = "toy/table1:{variant}:sk:{dataset}"
columns = [
  { head = "Variant", text = "{variant}, {label}" },
  { head = "score", show = "{mean}±{deviation}", repeats = true },
  { head = "{of}", each = [{ of = "loss" }, { of = "objective" }], value = "{of}", digits = 3 },
  { head = "root", formula = "root", inputs = { of = { value = "loss" } }, digits = 3 },
  { head = "minus NSK", minus = "toy/table1:one:nsk:{dataset}", show = "{value:+} ({p})" },
]
explains = ["toy/table1"]
notes = ["On wine {loss}."]
numbers = { loss = { cell = "toy/table1:one:sk:wine", value = "loss" } }
"#;

#[test]
fn facts_are_rows_of_what_varies_and_a_query_a_column() {
    let rendered = shown(FACTS, true).unwrap();
    let table = &rendered.tables[0];
    assert_eq!((table.id.as_str(), table.rows.len()), ("toy/table1", 4));
    let heads: Vec<&str> = table.columns.iter().map(|column| column.head.as_str()).collect();
    assert_eq!(heads, ["Variant", "score", "loss", "objective", "root", "minus NSK"]);
    let row = &table.rows[0];
    assert_eq!((row.group.as_deref(), row.cells[0].text.as_str()), (Some("wine"), "one, SK"));
    assert!(row.cells[1].text.contains('±') && row.cells[1].repeats.as_deref() == Some("2/3"));
    let number = |at: usize| row.cells[at].sort.unwrap();
    assert!((number(4) - number(2).sqrt()).abs() < 1e-12);
    assert!(row.cells[5].text.starts_with(['+', '-']) && row.cells[5].text.ends_with(')'));
    // NSK does not run in the other variant, but it does on the dataset.
    assert_ne!(table.rows[1].cells[5].text, "-");
    assert_eq!(table.notes[..2], ["one: as it is.", "two: and again."]);
    assert!(table.notes[2].starts_with("On wine 1."), "{}", table.notes[2]);
}

#[test]
fn facts_that_are_not_run_are_named_below_the_table() {
    let table = &shown(FACTS, false).unwrap().tables[0];
    assert!(table.rows.is_empty());
    assert_eq!(
        table.notes[0],
        "Not run yet: toy/table1 one, nsk (wine, iris), toy/table1 one, sk (wine, iris), toy/table1 two, sk (wine, iris)."
    );
}

const CURVES: &str = r#"
[[curves]]
panels = [{ variants = "toy/table1" }]
panel = "{variant} ({repeats}/{planned})"
lines = [{ method = ["sk", "nsk"] }]
line = "{label}"
cell = "toy/table1:{variant}:{method}:wine"
band = "range"
x = { head = "looks", value = "step", over = 10 }
y = { head = "error (%)", value = "accuracy", times = -100, plus = 100 }
marks = [{ label = "half", y = 50 }]

[[curves]]
name = "settings"
lines = [{ method = ["sk"] }]
line = "by variant"
points = [{ each = [{ variant = "one", place = 1 }, { variant = "two", place = 10 }] }]
x = { head = "place", scale = "log10", value = "{place}" }
y = { head = "loss", value = { cell = "toy/table1:{variant}:{method}:wine", value = "loss" } }
"#;

#[test]
fn curves_are_means_over_repeats_and_points_over_a_setting() {
    let rendered = shown(CURVES, true).unwrap();
    let figures: Vec<_> = rendered
        .drawings
        .iter()
        .map(|drawing| match drawing {
            Drawing::Figure(figure) => figure,
            Drawing::Diagram(_) => panic!("a diagram"),
        })
        .collect();
    let ids: Vec<&str> = figures.iter().map(|figure| figure.id.as_str()).collect();
    assert_eq!(ids, ["toy/table1", "toy/table1-settings"]);
    let panel = &figures[0].panels[0];
    assert_eq!((panel.title.as_str(), panel.series.len()), ("one (2/3)", 2));
    let (series, band) = (&panel.series[0], panel.series[0].band.as_ref().unwrap());
    assert_eq!(series.label, "SK");
    assert_eq!(series.points.iter().map(|(x, _)| *x).collect::<Vec<_>>(), [1.0, 2.0, 3.0]);
    let inside = series.points.iter().zip(band).all(|((_, y), (low, high))| low < y && y < high);
    assert!(inside && panel.marks.len() == 1);
    assert_eq!(figures[0].panels[1].series.len(), 1, "the method that it does not have");
    let points = &figures[1].panels[0].series[0].points;
    assert_eq!(points.iter().map(|(x, _)| *x).collect::<Vec<_>>(), [1.0, 10.0]);
    assert!(shown(CURVES, false).unwrap().drawings.is_empty());
}

#[test]
fn a_wrong_file_is_named_with_what_is_wrong() {
    let facts = |more: &str| format!("[[facts]]\nrows = [{{ datasets = 'toy/table1' }}]\n{more}");
    let columns = |column: &str| facts(&format!("columns = [{{ {column} }}]"));
    let cell = "cell = 'toy/table1:one:sk:{dataset}'";
    for (rest, words) in [
        (String::new(), "[[facts]], [[curves]]"),
        (columns("text = 'no head'"), "missing field `head`"),
        (columns(&format!("head = 'a', valu = 'loss', {cell}")), "unknown field `valu`"),
        (columns("head = 'a', cell = 'toy/table1:one:sk:{data}'"), "{data}` stands for nothing"),
        (columns("head = 'a', cell = 'toy/table2:one:sk:{dataset}'"), "no such study"),
        (facts("shows = []\ncolumns = []"), "unknown field `shows`"),
        (columns("head = 'a', text = ''") + &columns("head = 'b', text = ''"), "one name"),
        ("[diagram]\nsize = [1, 1]\nblocks = []\narrows = [{ from = 'a' }]".into(), "`from`"),
    ] {
        let error = shown(&rest.replacen("][[", "]\n[[", 1), true).unwrap_err().to_string();
        assert!(error.contains(words), "{rest}: {error}");
        assert!(words.contains("study") || error.contains("artefacts/toy-table1.toml"), "{error}");
    }
}

fn diagrams() -> Vec<Diagram> {
    let (records, missing) = (RecordSet::new(), BTreeMap::new());
    let (methods, selection) = (plannable(), Selection::default());
    let context = made_up::context(&records, &methods, &selection, &missing);
    let of_schemes = catalogue().artefacts().iter().filter(|artefact| artefact.studies.is_empty());
    let drawings = of_schemes.flat_map(|artefact| artefact.render(&context).unwrap().drawings);
    drawings
        .filter_map(|drawing| match drawing {
            Drawing::Diagram(diagram) => Some(diagram),
            Drawing::Figure(_) => None,
        })
        .collect()
}

/// An arrow that ends beside its box points at nothing.
#[test]
fn every_arrow_of_a_diagram_leads_to_a_box() {
    let all = diagrams();
    assert_eq!(all.len(), 3);
    let narrow: Vec<Diagram> =
        all.iter().filter_map(|own| own.narrow.as_deref().cloned()).collect();
    assert_eq!(narrow.len(), 3, "each has a form for a phone");
    for diagram in all.into_iter().chain(narrow) {
        let near = |(x, y): (f64, f64), shape: &Shape| match shape {
            Shape::Block { at, size, .. } => {
                (x - at.0).abs() <= size.0 / 2.0 && (y - at.1).abs() <= size.1 / 2.0
            }
            _ => false,
        };
        for shape in &diagram.shapes {
            if let Shape::Arrow { path, .. } = shape {
                let end = path[path.len() - 1];
                let leads = diagram.shapes.iter().any(|other| near(end, other));
                assert!(leads, "{}: {end:?}", diagram.id);
            }
        }
    }
}
