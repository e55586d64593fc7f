use super::*;

fn division(by: &DivideBy, texts: &[&str]) -> Result<Division, WorkbenchError> {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    let lines: Vec<usize> = (2..).take(texts.len()).collect();
    Division::of(by, &texts, &lines, "toys")
}

fn groups(texts: &[&str]) -> Division {
    division(&DivideBy::Groups("g".to_owned()), texts).unwrap()
}

fn time(texts: &[&str]) -> Division {
    division(&DivideBy::Time("t".to_owned()), texts).unwrap()
}

/// Six groups of ten rows, two of them of a rare class: each fold has one.
#[test]
fn groups_of_a_rare_class_are_spread_over_the_folds() {
    let names: Vec<String> = (0..60).map(|row| format!("g{}", row / 10)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let labels: Vec<u32> = (0..60).map(|row| u32::from(row / 10 >= 4)).collect();
    for seed in 0..20 {
        let splitting = Splitting::Folds { folds: 2, repeats: 1 };
        let found = groups(&names).splits(splitting, Some(&labels), &Streams::root(seed));
        for split in found.unwrap() {
            let rare = split.test.iter().filter(|&&row| labels[row] == 1).count();
            assert_eq!((split.test.len(), rare), (30, 10), "seed {seed}");
        }
    }
}

#[test]
fn groups_stay_whole_in_folds_of_about_one_size() {
    let names: Vec<String> = (0..40).map(|row| format!("g{}", row % 9)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let own = groups(&names);
    let splits =
        own.splits(Splitting::Folds { folds: 4, repeats: 3 }, None, &Streams::root(1)).unwrap();
    assert_eq!(splits.len(), 12);
    for (at, split) in splits.iter().enumerate() {
        assert_eq!(split.train.len() + split.test.len(), 40);
        assert!((8..=13).contains(&split.test.len()), "{}", split.test.len());
        let shared = split
            .test
            .iter()
            .any(|&row| split.train.iter().any(|&other| names[other] == names[row]));
        assert!(!shared, "split {at}");
    }
    assert_ne!(splits[0], splits[4], "each repeat divides anew");
    let held =
        own.splits(Splitting::HoldOut { test: 0.3, repeats: 1 }, None, &Streams::root(1)).unwrap();
    assert!((12..=17).contains(&held[0].test.len()), "{}", held[0].test.len());
    let refused = own
        .splits(Splitting::Folds { folds: 10, repeats: 1 }, None, &Streams::root(1))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("at least 2 and at most 9: `g` has 9 groups"), "{refused}");
}

#[test]
fn what_tests_comes_after_what_trains() {
    // Numbers, not texts: 9 before 10.
    let texts: Vec<String> = (0..20).rev().map(|day| (day / 2 + 5).to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let own = time(&texts);
    let once = |folds| Splitting::Folds { folds, repeats: 1 };
    let splits = own.splits(once(3), None, &Streams::root(1)).unwrap();
    let day = |row: &usize| texts[*row].parse::<u32>().unwrap();
    assert_eq!(splits.len(), 3);
    let mut before = 0;
    for split in &splits {
        let (last, first) =
            (split.train.iter().map(day).max().unwrap(), split.test.iter().map(day).min().unwrap());
        assert!(last < first, "{last} {first}");
        assert!(split.train.len() > before);
        before = split.train.len();
    }
    assert_eq!(splits[2].train.len() + splits[2].test.len(), 20);
    let held =
        own.splits(Splitting::HoldOut { test: 0.25, repeats: 1 }, None, &Streams::root(1)).unwrap();
    // Days are whole: 16 rows train, 4 test.
    assert_eq!((held[0].train.len(), held[0].test.len()), (16, 4));
    assert!(own.splits(once(9), None, &Streams::root(1)).is_ok());
    let refused = own.splits(once(10), None, &Streams::root(1)).unwrap_err().to_string();
    assert!(refused.contains("at least 1 and at most 9: `t` has 10 different times"), "{refused}");
    let refused = own
        .splits(Splitting::Folds { folds: 3, repeats: 2 }, None, &Streams::root(1))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("`t` divides the rows in one way only"), "{refused}");
    for (wrong, line) in [
        (&["9", "10", "n/a"][..], 4),
        (&["31.12.2025", "01.01.2026"], 2),
        (&["2025-12-31", "2026-01-01", "later"], 4),
        (&["2023-12-31", "2024-02-29", "2024-02-30"], 4),
        (&["2023-02-28", "2023-02-29"], 3),
        (&["2023-13-01", "2023-12-01"], 2),
    ] {
        let refused = division(&DivideBy::Time("t".to_owned()), wrong).unwrap_err();
        assert!(refused.to_string().contains(&format!("line {line}, ")), "{refused}");
        assert!(refused.to_string().contains("has no place in time"), "{refused}");
    }
    // Dates sort as texts.
    let dates = time(&["2026-02-01", "2025-12-31", "2026-01-15"]);
    let held = dates
        .splits(Splitting::HoldOut { test: 0.3, repeats: 1 }, None, &Streams::root(1))
        .unwrap();
    assert_eq!((held[0].train.as_slice(), held[0].test.as_slice()), (&[1, 2][..], &[0][..]));
}

#[test]
fn a_part_says_which_rows_test() {
    let by = || DivideBy::Part("part".to_owned());
    let own = division(&by(), &["train", "Test", "train", "train"]).unwrap();
    let splits = own.splits(own.splitting(Splitting::default()), None, &Streams::root(1)).unwrap();
    assert_eq!(splits, [Split { train: vec![0, 2, 3], test: vec![1] }]);
    assert_eq!(own.splitting(Splitting::default()), Splitting::HoldOut { test: 0.25, repeats: 1 });
    for (texts, words) in [
        (&["train", "valid"][..], "line 3, column `part`: `valid` is neither train nor test"),
        (&["train", " "], "line 3, column `part`: is empty"),
        (&["test", "test"], "at least two values"),
        (&["train", "train"], "at least two values"),
    ] {
        let refused = division(&by(), texts).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
}
