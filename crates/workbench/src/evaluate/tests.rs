use super::*;
use crate::Choices;
use mercer_baselines::BASELINES;
use mercer_datasets::{RowFile, SchemaOptions};
use std::fmt::Write as _;

/// 60 rows of a common class, three of a rare one that lies apart, and one of a third.
fn skewed() -> Table {
    let mut text = "x,kind\n".to_owned();
    for row in 0..60 {
        writeln!(text, "{}.5,common", row % 7).unwrap();
    }
    text += "101.5,rare\n102.5,rare\n103.5,rare\n50.5,single\n";
    let file = RowFile::spooled(text.as_bytes(), "skewed", None).unwrap();
    Table::read(&file, &SchemaOptions::default()).unwrap()
}

fn balanced(method: &str, splitting: Splitting) -> (Option<Estimate>, Evaluation) {
    let found =
        evaluate(BASELINES, method, &skewed(), splitting, &Choices::plain(), |_, _| {}).unwrap();
    (found.estimates.get("balanced-accuracy").cloned(), found)
}

#[test]
fn folds_without_a_class_do_not_raise_the_balanced_accuracy() {
    for repeats in [1, 2] {
        // Three rare rows over five folds: two folds lack them in each repeat.
        let splitting = Splitting::Folds { folds: 5, repeats };
        let (of_majority, found) = balanced("majority", splitting);
        let of_majority = of_majority.unwrap();
        assert!((of_majority.mean - 0.5).abs() < 1e-15, "{}", of_majority.mean);
        assert_eq!((of_majority.std, of_majority.interval), (None, None));
        let lacking = found.splits.iter().filter(|s| !s.contains_key("balanced-accuracy"));
        assert_eq!(lacking.count(), 2 * repeats);
        let said = format!("{} of {} test parts lack a class", 2 * repeats, 5 * repeats);
        assert!(found.notes.iter().any(|note| note.contains(&said)), "{:?}", found.notes);
    }
    let splitting = Splitting::Folds { folds: 3, repeats: 1 };
    let (of_majority, found) = balanced("majority", splitting);
    let of_majority = of_majority.unwrap();
    assert!((of_majority.mean - 0.5).abs() < 1e-15 && of_majority.std == Some(0.0));
    // Every fold says the same, which is no certainty.
    assert_eq!((of_majority.interval, of_majority.interval_by), (None, None));
    assert!(found.notes.iter().all(|note| !note.contains("lack")));
}

#[test]
fn a_part_held_out_has_every_class_and_so_a_balanced_accuracy() {
    let (of_majority, found) = balanced("majority", Splitting::HoldOut { test: 0.02, repeats: 3 });
    assert!((of_majority.unwrap().mean - 0.5).abs() < 1e-15);
    assert!(found.notes.iter().all(|note| !note.contains("lack")));
}

/// 40 rows in 500 batches are batches of one row, and ten steps over 40 rows of RFTK move its frequencies
/// hardly ever: both are said of the fits themselves.
#[test]
fn settings_that_leave_nothing_to_learn_from_are_said() {
    let said = |method: &str, settings: Settings| {
        let mut text = "x,kind\n".to_owned();
        for row in 0..50 {
            writeln!(text, "{}.5,{}", row % 7, if row % 7 < 3 { "a" } else { "b" }).unwrap();
        }
        let file = RowFile::spooled(text.as_bytes(), "small", None).unwrap();
        let table = Table::read(&file, &SchemaOptions::default()).unwrap();
        let methods = [mercer_models::mce::METHODS, mercer_models::rftk::METHODS].concat();
        let choices = Choices { settings, ..Choices::plain() };
        let splitting = Splitting::Folds { folds: 5, repeats: 1 };
        evaluate(&methods, method, &table, splitting, &choices, |_, _| {}).unwrap().notes
    };
    let steps = |count: usize| Settings::new().with("epochs", count);
    let of_one = said("gmce-sgd", steps(1).with("batches", 500));
    assert!(of_one.iter().any(|note| note.contains("batches of one row each")), "{of_one:?}");
    let of_more = said("gmce-sgd", steps(1).with("batches", 4));
    assert!(of_more.iter().all(|note| !note.contains("batches of one")), "{of_more:?}");
    let still = said("rftk", steps(2).with("features", 16).with("every", 5));
    assert!(still.iter().any(|note| note.contains("moved its frequencies")), "{still:?}");
}
