//! The files of the project hold together: specs, claims, findings, artefacts, published numbers.

use crate::common::{committed, planned};
use crate::made_up;
use mercer_datasets::Catalogue;
use mercer_experiments::{catalogue, plannable};
use mercer_harness::{Selection, Trial};
use mercer_learning::{Shape, Task, find};
use mercer_report::{Drawing, Holds, RecordSet, RenderContext, Rendered, coverage, write};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn every_spec_parses_and_plans_in_every_profile() {
    let methods = plannable();
    let mut names = BTreeSet::new();
    for name in catalogue().studies() {
        let spec = catalogue().study(&name).unwrap();
        assert_eq!(spec.artefact, *name);
        assert!(names.insert(name.clone()), "{name} is there twice");
        assert!(spec.question.ends_with('?'));
        let paper = planned(&spec, &methods, "paper");
        for profile in ["quick", "smoke"] {
            let trials = planned(&spec, &methods, profile);
            assert!(!trials.is_empty(), "{name} plans nothing under {profile}");
            // Fewer trials, or smaller ones: a cut is part of the key.
            let whole = |trial: &Trial| paper.iter().any(|other| other.key == trial.key);
            let cut = trials.len() < paper.len() || !trials.iter().all(whole);
            assert!(cut, "{profile} cuts nothing of {name}");
        }
        // A study that shares another's streams names one that exists, with the same seed.
        if let Some(partner) = &spec.paired_with {
            assert_eq!(catalogue().study(partner).unwrap().seed, spec.seed);
        }
    }
}

#[test]
fn every_name_in_a_spec_is_known_and_every_setting_builds() {
    let methods = plannable();
    for name in catalogue().studies() {
        let spec = catalogue().study(&name).unwrap();
        for dataset in &spec.datasets {
            assert!(Catalogue::builtin().find(dataset).is_ok(), "{name}: {dataset}");
        }
        for variant in &spec.variants {
            for method in &variant.methods {
                assert!(find(&methods, &method.name).is_ok(), "{name}: {}", method.name);
            }
        }
        // A grid's values are settings of the methods that search it.
        for method in spec.grid.iter().flat_map(|grid| grid.methods.keys()) {
            let found = find(&methods, method).unwrap();
            let shape = Shape { rows: 100, features: 4, task: Task::Classification { classes: 3 } };
            let grid = spec.grid.as_ref().and_then(|grid| grid.of(method)).unwrap();
            for point in [&grid.points()[0], grid.points().last().unwrap()] {
                let settings = (found.defaults)(&shape).overridden_by(point);
                found.learner(&settings, shape.task).unwrap();
            }
        }
        for profile in ["paper", "quick", "smoke"] {
            for trial in planned(&spec, &methods, profile) {
                let entry = Catalogue::builtin().find(&trial.key.dataset).unwrap();
                let shape = Shape { rows: entry.rows, features: entry.features, task: entry.task };
                let method = find(&methods, &trial.key.method).unwrap();
                let settings = (method.defaults)(&shape).overridden_by(&trial.settings);
                if catalogue().curves().iter().any(|path| path.method.name == method.name) {
                    // A whole curve has no learner; its settings are those that it knows.
                    let known = (method.defaults)(&shape);
                    let stranger = settings.iter().find(|(name, _)| known.get(name).is_none());
                    assert_eq!(stranger, None, "{name}");
                    continue;
                }
                let candidate = settings.clone().overridden_by(&trial.anchor);
                for settings in [settings, candidate] {
                    if let Err(error) = method.learner(&settings, shape.task) {
                        panic!("{name} {} {profile}: {error}", trial.label);
                    }
                }
            }
        }
    }
}

/// Docstrings become help: links of theirs must not.
#[test]
fn what_a_setting_means_is_plain_text() {
    let mut read = 0;
    for method in mercer_methods::registry() {
        for setting in (method.settings)() {
            let marks = ["::", "`", "[[", "]("];
            let found = marks.iter().find(|mark| setting.meaning.contains(**mark));
            assert_eq!(found, None, "{} {}: {}", method.name, setting.name, setting.meaning);
            read += 1;
        }
    }
    assert!(read > 100, "{read}");
}

/// The code penalises in the first batch of a pass and every hundredth after it, and over as many
/// rows as it validates on: a fifth of all, of MNIST 6000.
#[test]
fn the_released_penalty_of_rftk_is_that_of_the_code() {
    let mut checked = 0;
    for name in ["rftk/table1", "audit/rftk"] {
        let spec = catalogue().study(name).unwrap();
        for trial in planned(&spec, &plannable(), "paper") {
            let key = &trial.key;
            let of_code = ["released", "no-trace", "unit", "comment-bandwidth"];
            if key.method != "rftk" || !of_code.contains(&key.variant.as_str()) {
                continue;
            }
            let setting = |name: &str| trial.settings.get(name).cloned().unwrap_or_default();
            assert_eq!(setting("trace_clock"), "pass");
            assert_eq!(setting("trace_every"), 100);
            let rows = Catalogue::builtin().find(&key.dataset).unwrap().rows as f64;
            let (training, validating) =
                if key.dataset == "mnist" { (54e3, 6e3) } else { (0.8 * rows, 0.2 * rows) };
            let penalised = setting("trace_share").as_f64().unwrap() * training;
            assert!((penalised - validating).abs() < 1e-6, "{}: {penalised}", key.dataset);
            checked += 1;
        }
    }
    assert!(checked > 200, "{checked}");
}

/// The saved figure calls the third ridge 1, where the code plots 1e-2; ridgeless is 1e-7 there.
#[test]
fn the_ridges_of_figure_2a_are_those_that_the_code_plots() {
    let spec = catalogue().study("rftk/figure2a").unwrap();
    let trials = planned(&spec, &plannable(), "paper");
    assert!(!trials.is_empty());
    for trial in trials {
        let ridges: Option<Vec<f64>> = trial
            .settings
            .get("lambdas")
            .and_then(|ridges| ridges.as_array()?.iter().map(Value::as_f64).collect());
        assert_eq!(ridges, Some(vec![0.0, 1e-7, 1e-4, 1e-2]));
    }
}

#[test]
fn figure_2b_records_once_in_200_batches() {
    let spec = catalogue().study("rftk/figure2b").unwrap();
    let trials = planned(&spec, &plannable(), "paper");
    let of_rftk = |trial: &&Trial| trial.key.method == "rftk" && trial.key.variant == "released";
    let trial = trials.iter().find(of_rftk).unwrap();
    let setting = |name: &str| trial.settings.get(name).and_then(Value::as_u64).unwrap();
    let batches = 54_000_u64.div_ceil(setting("batch"));
    assert_eq!(spec.look_every("mnist"), Some(200));
    assert_eq!((batches, setting("epochs"), setting("epochs") * batches / 200), (1688, 30, 253));
}

/// All artefacts in a context.
fn rendered(context: &RenderContext<'_>) -> Vec<(&'static str, Rendered)> {
    catalogue()
        .artefacts()
        .iter()
        .map(|artefact| {
            let rendered = artefact.render(context);
            (artefact.id.as_str(), rendered.unwrap_or_else(|e| panic!("{}: {e}", artefact.id)))
        })
        .collect()
}

fn ids(rendered: &Rendered) -> Vec<String> {
    let drawings = rendered.drawings.iter().map(|drawing| match drawing {
        Drawing::Figure(figure) => figure.id.clone(),
        Drawing::Diagram(diagram) => diagram.id.clone(),
    });
    rendered.tables.iter().map(|table| table.id.clone()).chain(drawings).collect()
}

/// A command of the page of methods runs as it stands: `compare` refuses a name that is there twice.
#[test]
fn no_method_is_compared_with_itself() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../reports/methods.html");
    let page = std::fs::read_to_string(path).unwrap();
    let pairs: Vec<_> =
        page.split("compare --methods ").skip(1).filter_map(|rest| rest.split_once(' ')).collect();
    assert!(pairs.len() > 30, "{}", pairs.len());
    for (names, _) in pairs {
        let (one, other) = names.split_once(',').unwrap();
        assert_ne!(one, other);
    }
}

#[test]
fn every_artefact_renders_without_a_record() {
    let (methods, selection) = (plannable(), Selection::default());
    let (records, missing) = (RecordSet::new(), BTreeMap::new());
    for profile in ["paper", "quick", "smoke"] {
        let context =
            RenderContext::new(catalogue(), &records, &methods, profile, &selection, &missing);
        for (id, rendered) in rendered(&context) {
            for cell in &rendered.cells {
                assert_eq!(cell.mean, None, "{id} shows a mean without a record");
                assert_eq!(cell.repeats, 0);
            }
            for table in &rendered.tables {
                assert!(!table.to_markdown().contains("NaN") && !table.to_latex().contains("NaN"));
            }
        }
        let out = tempfile::tempdir().unwrap();
        let all: Vec<_> = catalogue().artefacts().iter().collect();
        let written = write(&context, &all, out.path()).unwrap();
        assert!(written.page.is_file() && written.files > catalogue().artefacts().len());
        assert!(written.summary.claims.iter().all(|claim| claim.holds == Holds::NotRun));
    }
}

#[test]
fn ids_are_unique_and_every_artefact_has_a_paper() {
    let artefacts: BTreeSet<&str> =
        catalogue().artefacts().iter().map(|artefact| artefact.id.as_str()).collect();
    assert_eq!(artefacts.len(), catalogue().artefacts().len());
    for artefact in catalogue().artefacts() {
        let (paper, _) = artefact.id.split_once('/').unwrap();
        assert!(
            catalogue().sections().iter().any(|(known, _)| *known == paper),
            "{paper} is no section"
        );
        assert!(artefact.studies.iter().all(|study| catalogue().studies().any(|id| id == *study)));
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let file = |name: &str| assert!(root.join(name).is_file(), "{} names {name}", artefact.id);
        file(&artefact.source);
        artefact.code.iter().for_each(|code| file(code));
    }
    for (paper, _) in catalogue().sections() {
        assert!(
            !catalogue().select(&[(*paper).to_owned()]).unwrap().is_empty(),
            "{paper} has no artefact"
        );
    }
    let (methods, selection) = (plannable(), made_up::selection());
    let (records, missing) = (made_up::full(&methods), BTreeMap::new());
    let context = made_up::context(&records, &methods, &selection, &missing);
    let mut seen = BTreeSet::new();
    for (artefact, rendered) in rendered(&context) {
        let own = ids(&rendered);
        assert!(own.iter().any(|id| id == artefact), "{artefact} shows nothing of its name");
        for id in own {
            // Below its artefact's name, so that files and anchors of two never collide.
            assert!(id.starts_with(artefact), "{id} is not below {artefact}");
            assert!(seen.insert(id.clone()), "{id} is there twice");
        }
    }
    // Nor may a claim or finding take the anchor of another.
    for (paper, _) in catalogue().sections() {
        for claim in catalogue().claims(paper).unwrap() {
            assert!(seen.insert(format!("claim-{}", claim.id)), "{} is there twice", claim.id);
        }
    }
    for finding in catalogue().findings().unwrap() {
        assert!(seen.insert(format!("finding-{}", finding.id)), "{} is there twice", finding.id);
    }
}

#[test]
fn a_name_that_is_no_artefact_gets_a_suggestion() {
    let error = catalogue().select(&["askl/tabel2".to_owned()]).unwrap_err().to_string();
    assert!(error.contains("did you mean `askl/table2`"), "{error}");
    assert_eq!(catalogue().select(&[]).unwrap().len(), catalogue().artefacts().len());
    // A paper comes with its audits, its theory and its costs, and with those of no other.
    for paper in ["askl", "rftk", "hyper", "mce"] {
        let chosen: Vec<&str> = catalogue()
            .select(&[paper.to_owned()])
            .unwrap()
            .iter()
            .map(|artefact| artefact.id.as_str())
            .collect();
        for (id, about) in
            catalogue().artefacts().iter().filter_map(|a| Some((&*a.id, a.id.split_once('/')?)))
        {
            let own = about.1 == paper || about.1.starts_with(&format!("{paper}-"));
            let beside = ["audit", "theory", "complexity"].contains(&about.0) && own;
            assert_eq!(chosen.contains(&id), about.0 == paper || beside, "{paper}: {id}");
        }
    }
    let hyper = catalogue().select(&["hyper".to_owned()]).unwrap();
    for id in ["audit/hyper-pairs", "theory/hyper-decomposition", "complexity/hyper-krr"] {
        assert!(hyper.iter().any(|artefact| artefact.id == id), "{id}");
    }
    let rftk = catalogue().select(&["rftk".to_owned()]).unwrap();
    assert!(rftk.iter().any(|artefact| artefact.id == "audit/rftk-beta-zero"));
}

/// Every planned cell is counted once, and the page is that of the records.
#[test]
fn the_page_of_what_is_run_counts_every_cell_once() {
    let (methods, missing) = (plannable(), BTreeMap::new());
    let (none, records) = (RecordSet::new(), committed());
    let selection = Selection::default();
    let all: Vec<&_> = catalogue().artefacts().iter().collect();
    let counts = |records: &RecordSet, profile: &str| -> Vec<[usize; 9]> {
        let context =
            RenderContext::new(catalogue(), records, &methods, profile, &selection, &missing);
        let table = coverage(&context, &all).unwrap();
        let numbers = |row: &mercer_render::Row| {
            std::array::from_fn(|at| row.cells[at + 2].text.parse().unwrap())
        };
        table.rows.iter().map(numbers).collect()
    };
    let planned = counts(&none, "paper");
    let recorded = counts(&records, "paper");
    assert_eq!(planned.len(), recorded.len());
    for (empty, found) in planned.iter().zip(&recorded) {
        let [cells, _, _, _, _, none, recorded, trials, without] = *empty;
        assert_eq!((none, recorded, without), (cells, 0, 0));
        assert_eq!((found[0], found[7]), (cells, trials));
        assert_eq!(found[1..=5].iter().sum::<usize>(), cells, "{found:?}");
        assert!(found[6] <= trials && found[8] <= found[6], "{found:?}");
    }
    let of = |counts: &[[usize; 9]]| counts.iter().map(|row| row[7]).sum::<usize>();
    let smoke = counts(&none, "smoke");
    assert!(of(&smoke) < of(&planned), "{} {}", of(&smoke), of(&planned));
    let context =
        RenderContext::new(catalogue(), &records, &methods, "paper", &selection, &missing);
    let table = coverage(&context, &all).unwrap();
    // The one repeat that is planned there is not all of the paper's ten.
    let one = table.rows.iter().find(|row| row.cells[1].text == "slow-frequencies").unwrap();
    assert_eq!([&one.cells[3].text, &one.cells[6].text], ["0", "1"]);
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../reports/coverage.md");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.starts_with(&table.to_markdown()), "just report");
}

/// What an artefact is planned to need is what it shows: with every planned record there, no
/// cell is empty.
#[test]
fn the_plan_of_an_artefact_fills_its_cells() {
    let methods = plannable();
    let selection = made_up::selection();
    for artefact in catalogue().artefacts() {
        let work = catalogue()
            .work(&[artefact], &methods, "paper", &selection, &RecordSet::new())
            .unwrap();
        let mut records = RecordSet::new();
        records.add(work.trials.iter().map(made_up::record));
        let missing = BTreeMap::new();
        let context = made_up::context(&records, &methods, &selection, &missing);
        for cell in artefact.render(&context).unwrap().cells {
            let place = format!("{} {} {}", cell.dataset, cell.method, cell.variant);
            // Some variants have fewer repeats than the records.
            let of_cell = |trial: &&Trial| {
                let key = &trial.key;
                (&key.variant, &key.dataset, &key.method)
                    == (&cell.variant, &cell.dataset, &cell.method)
            };
            let planned = work.trials.iter().filter(of_cell).count();
            let repeats = planned.min(made_up::REPEATS as usize);
            assert_eq!(cell.repeats, repeats, "{}: {place}", artefact.id);
            assert!(repeats > 0, "{}: {place}", artefact.id);
            assert!(cell.mean.is_some_and(f64::is_finite), "{}: {place}", artefact.id);
        }
    }
}

#[test]
fn reachable_keys_are_those_that_a_study_plans_and_all_of_unknown_studies() {
    let methods = plannable();
    let asked = mercer_report::ReachableKeys::of(catalogue(), &RecordSet::new(), &methods).unwrap();
    let spec = catalogue().study("rftk/table1").unwrap();
    let mut key = planned(&spec, &methods, "paper")[0].key.clone();
    assert!(asked.includes(&key));
    key.settings.insert("cap".to_owned(), 17.into());
    assert!(!asked.includes(&key));
    key.artefact = "a study of one's own".to_owned();
    assert!(asked.includes(&key));
}

/// A label of a line has one colour through all figures. `pdflatex` knows ASCII, Latin letters, and what is written as
/// mathematics.
#[test]
fn a_method_has_one_colour_in_all_figures_and_tables_hold_no_sign_that_latex_lacks() {
    let (methods, records, missing) = (plannable(), committed(), BTreeMap::new());
    let selection = Selection::default();
    let context =
        RenderContext::new(catalogue(), &records, &methods, "paper", &selection, &missing);
    let mut colours: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut tables = 0;
    for (id, rendered) in rendered(&context) {
        for table in &rendered.tables {
            let lacks = |c: &char| !c.is_ascii() && !('\u{c0}'..='\u{17f}').contains(c);
            let lacking: String = table.to_latex().chars().filter(lacks).collect();
            assert_eq!(lacking, "", "{}", table.id);
            tables += 1;
        }
        let figures = rendered.drawings.iter().filter_map(|drawing| match drawing {
            Drawing::Figure(figure) => Some(figure),
            Drawing::Diagram(_) => None,
        });
        for figure in figures {
            let mut labels: Vec<&str> = Vec::new();
            for series in figure.panels.iter().flat_map(|panel| &panel.series) {
                if labels.contains(&series.label.as_str()) {
                    continue;
                }
                let colour = series.color.unwrap_or(labels.len());
                labels.push(&series.label);
                let (known, of) = colours
                    .entry(series.label.clone())
                    .or_insert_with(|| (colour, figure.id.clone()));
                assert_eq!(*known, colour, "{} in {id} and {of}", series.label);
            }
        }
    }
    assert!(tables > 50 && colours.len() > 50, "{tables} tables, {colours:?}");
}
