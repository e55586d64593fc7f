//! The printed numbers of the four papers are all there.

use mercer_experiments::catalogue;
use mercer_report::PublishedCell;

#[test]
fn every_paper_is_read() {
    let papers = [("askl", 30, 60), ("rftk", 10, 59), ("hyper", 10, 216), ("mce", 10, 42)];
    for (paper, repeats, numbers) in papers {
        let (found, cells) = catalogue().published(paper).unwrap();
        assert_eq!((found, cells.len()), (repeats, numbers), "{paper}");
        assert!(cells.iter().all(|cell| cell.mean > 0.0));
        let undeviating = cells.iter().filter(|cell| cell.std.is_nan()).count();
        assert_eq!(undeviating > 0, paper == "hyper", "{paper}: {undeviating}");
    }
    let (_, cells) = catalogue().published("hyper").unwrap();
    let of_table_2: Vec<_> = cells.iter().filter(|cell| cell.table == "2").collect();
    assert_eq!(of_table_2.len(), 54, "six datasets, nine methods");
    assert!(of_table_2.iter().all(|cell| cell.std >= 0.0));
    assert!(catalogue().published("none").is_err());
    assert_eq!(catalogue().quoted("mce").unwrap().len(), 16);
    assert!(catalogue().published("mce").unwrap().1.iter().all(|cell| cell.digits == 1));
}

#[test]
fn what_was_left_out_and_what_was_not_run_are_told_apart() {
    let (_, cells) = catalogue().published("rftk").unwrap();
    let of = |dataset: &str| -> Vec<&PublishedCell> {
        cells.iter().filter(|cell| cell.dataset == dataset).collect()
    };
    // Kernel methods stop at 20 000 rows.
    assert_eq!(of("mnist").len(), 3);
    assert_eq!(of("dna").len(), 5);
    assert!(of("dna").iter().all(|cell| cell.published));
    // Vowel was run, and is not in the table.
    assert_eq!(of("vowel").len(), 5);
    assert!(of("vowel").iter().all(|cell| !cell.published));
}
