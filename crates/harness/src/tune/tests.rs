use super::*;

#[test]
fn an_effort_of_rows_is_a_share_of_those_that_there_are() {
    let studies = Tuner::default();
    let own = Tuner { of_rows: true, ..Tuner::default() };
    let amounts = |tuner: &Tuner, full, rows| -> Vec<u64> {
        tuner.rungs(full, rows).into_iter().filter_map(|rung| rung.amount).collect()
    };
    assert_eq!(amounts(&studies, Some(12_000.0), None), [1333, 4000, 12_000]);
    assert_eq!(amounts(&own, Some(12_000.0), Some(900)), [100, 300, 900]);
    assert_eq!(amounts(&own, Some(12_000.0), Some(240)), [100, 240]);
    assert_eq!(amounts(&own, Some(12_000.0), Some(48)), [48]);
    assert_eq!(amounts(&own, Some(4000.0), Some(50_000)), [444, 1333, 4000]);
    assert_eq!(own.rungs(None, Some(48)), [Rung { effort: 1.0, amount: None }]);
    let efforts: Vec<f64> =
        own.rungs(Some(12_000.0), Some(240)).iter().map(|rung| rung.effort).collect();
    assert_eq!(efforts, [100.0 / 240.0, 1.0]);
    // What studies have in their keys has not changed.
    assert!(!serde_json::to_string(&studies).unwrap().contains("of_rows"));
}

#[test]
fn rungs_of_a_sparing_search_double_and_leave_two_for_the_last() {
    let own = Tuner { of_rows: true, sparing: true, ..Tuner::default() };
    let amounts = |full, rows| -> Vec<u64> {
        own.rungs(Some(full), rows).into_iter().filter_map(|rung| rung.amount).collect()
    };
    assert_eq!(amounts(12_000.0, Some(900)), [100, 300, 900]);
    // A hundred rows and a third of 323 are nearly the same.
    assert_eq!(amounts(12_000.0, Some(323)), [100, 323]);
    assert_eq!(amounts(12_000.0, Some(190)), [190]);
    assert_eq!(amounts(12_000.0, Some(200)), [100, 200]);
    // Epochs: a ninth and a third of one are one, of five one and two.
    assert_eq!(amounts(1.0, None), [1]);
    assert_eq!(amounts(3.0, None), [1, 3]);
    assert_eq!(amounts(5.0, None), [1, 2, 5]);
    assert_eq!(amounts(90.0, None), [10, 30, 90]);
    let efforts: Vec<f64> =
        own.rungs(Some(5.0), None).into_iter().map(|rung| rung.effort).collect();
    assert_eq!(efforts, [0.2, 0.4, 1.0]); // what was spent, not a ninth
    let climbed = |candidates, full, rows| {
        let rungs = own.climbed(candidates, own.rungs(Some(full), rows));
        let mut counts = vec![candidates];
        for pair in rungs.windows(2) {
            counts.push(own.kept(counts[counts.len() - 1], pair[1].effort / pair[0].effort));
        }
        counts
    };
    assert_eq!(climbed(27, 90.0, None), [27, 9, 3]);
    assert_eq!(climbed(27, 4000.0, None), [27, 9, 3]); // 444, 1333 and 4000 are not quite thirds
    assert_eq!(climbed(9, 90.0, None), [9, 3]);
    assert_eq!(climbed(3, 90.0, None), [3]);
    assert_eq!(climbed(27, 12_000.0, Some(323)), [27, 9]);
    assert_eq!(climbed(5, 12_000.0, Some(360)), [5, 2]);
    // The studies' tuner, whose rungs are in the keys of records, has not changed.
    let studies = Tuner::default();
    assert_eq!(studies.climbed(3, studies.rungs(Some(1.0), None)).len(), 3);
    assert_eq!([27, 9, 4, 1].map(|count| studies.kept(count, 2.0)), [9, 3, 2, 1]);
    assert!(!serde_json::to_string(&studies).unwrap().contains("sparing"));
}

#[test]
fn the_first_candidate_says_how_many_there_is_time_for() {
    let gone = std::time::Duration::from_secs(100);
    let timed = |seconds| Timed {
        limits: &mercer_learning::Unlimited,
        started: Instant::now().checked_sub(gone).expect("the machine runs for longer"),
        seconds,
    };
    // 2750 s hold 9 candidates on three rungs that cost 100 s each, and 27 fits in full.
    assert_eq!(timed(Some(2750.0)).affordable(3), 9);
    assert_eq!(timed(Some(2750.0)).affordable(1), 27);
    assert_eq!(timed(Some(101.0)).affordable(3), 2);
    assert_eq!(timed(None).affordable(3), usize::MAX);
    assert!(timed(Some(99.0)).late() && !timed(Some(2750.0)).late());
}
