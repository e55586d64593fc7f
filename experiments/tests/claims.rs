//! Claims name what exists, and their checks say what records show.

use crate::made_up;
use mercer_experiments::{catalogue, plannable};
use mercer_harness::{Selection, Trial, plan};
use mercer_records::{CurvePoint, Record};
use mercer_report::{ClaimResult, Holds, RecordSet, RenderContext};
use std::collections::BTreeMap;

#[test]
fn every_claim_names_what_exists_and_can_be_decided() {
    let (methods, missing) = (plannable(), BTreeMap::new());
    let (records, selection) = (made_up::full(&methods), made_up::selection());
    let context = made_up::context(&records, &methods, &selection, &missing);
    let findings = catalogue().findings().unwrap();
    let mut checked = 0;
    for (paper, _) in catalogue().sections() {
        for claim in catalogue().claims(paper).unwrap() {
            let spec = catalogue().study(&claim.study).unwrap();
            for dataset in claim.datasets() {
                assert!(spec.datasets.contains(dataset), "{}: {dataset}", claim.id);
            }
            for (study, variant, method) in claim.places() {
                let variants = catalogue().study(study).unwrap().variants;
                let mut own = variants.iter().filter(|own| variant.is_none_or(|v| own.name == v));
                let runs = own.any(|own| own.methods.iter().any(|known| known.name == method));
                assert!(runs, "{}: {study} {variant:?} {method}", claim.id);
            }
            for (variant, finding) in &claim.not_applicable {
                assert!(spec.variants.iter().any(|known| known.name == *variant), "{}", claim.id);
                assert!(findings.iter().any(|known| known.id == finding), "{}", claim.id);
            }
            if let Some(finding) = &claim.because {
                assert!(findings.iter().any(|known| known.id == finding), "{}", claim.id);
            }
            for variant in &claim.variants {
                let listed = spec.variants.iter().any(|known| known.name == *variant);
                assert!(listed, "{}: {variant}", claim.id);
            }
            let results = claim.check(&context).unwrap();
            let run = results.iter().filter(|result| result.holds != Holds::NotRun).count();
            assert!(run > 0, "{} is not run in any variant: {results:?}", claim.id);
            checked += 1;
        }
    }
    assert!(checked >= 12, "{checked} claims");
}

/// What a claim says, variant by variant, if the made-up records of its study are changed so.
fn checked(id: &str, repeats: u32, change: &dyn Fn(&Trial, &mut Record)) -> Vec<ClaimResult> {
    let (methods, missing) = (plannable(), BTreeMap::new());
    let selection = Selection { repeats: Some(repeats), ..Selection::default() };
    let papers = catalogue().sections().iter();
    let mut claims = papers.flat_map(|(paper, _)| catalogue().claims(paper).unwrap());
    let claim = claims.find(|claim| claim.id == id).unwrap();
    let spec = catalogue().study(&claim.study).unwrap();
    let mut records = RecordSet::new();
    records.add(plan(&spec, &methods, "paper", &selection, &|_| None).unwrap().iter().map(
        |trial| {
            let mut record = made_up::record(trial);
            change(trial, &mut record);
            record
        },
    ));
    let context =
        RenderContext::new(catalogue(), &records, &methods, "paper", &selection, &missing);
    claim.check(&context).unwrap()
}

/// The verdict, where all variants have the same records.
fn agreed(results: &[ClaimResult]) -> Holds {
    assert!(results.iter().all(|result| result.holds == results[0].holds), "{results:?}");
    results[0].holds
}

fn point<const N: usize>(step: u64, values: [(&str, f64); N]) -> CurvePoint {
    let values = values.map(|(name, value)| (name.to_owned(), value)).into();
    CurvePoint { step, epoch: 0.0, values }
}

/// A lead at the end of curves is one only if the corrected test says so on every dataset, and a
/// curve that used few of the rows of its split is tested by those that it used.
#[test]
fn a_lead_at_the_end_of_curves_is_tested_dataset_by_dataset() {
    // Gains with a deviation of 0.0158 about their mean, which on vehicle is another.
    let table = [
        (0.04, 0.04, 138.0, Holds::Yes),
        (0.04, 0.0, 138.0, Holds::Undecided),
        (0.04, -0.04, 138.0, Holds::No),
        // t = 0.04 / (0.0158 √(1/5 + 1)) = 2.3 with as many test points as labelled ones.
        (0.04, 0.04, 552.0, Holds::Undecided),
    ];
    for (mean, on_vehicle, test_points, holds) in table {
        let results = checked("hyper-exact-nearer-than-nystrom", 5, &|trial, record| {
            let values = &mut record.result.curve[0].values;
            let mean = if trial.key.dataset == "vehicle" { on_vehicle } else { mean };
            let gain = mean + 0.01 * (f64::from(trial.key.repeat) - 2.0);
            values.insert("rmse exact ideal".to_owned(), 0.5 - gain);
            values.insert("rmse nystrom-20 ideal".to_owned(), 0.5);
            values.insert("test points".to_owned(), test_points);
        });
        // One a variant: the second has wider grids.
        assert_eq!(results.len(), 2);
        assert!(results[0].numbers.contains("vehicle"), "{results:?}");
        assert_eq!(results[0].holds, holds, "{mean} {on_vehicle} {test_points}");
    }
}

/// Along five curves from two starts: what must fall falls along each, what must rise rises.
#[test]
fn what_two_starts_lose_and_gain_is_told_curve_by_curve() {
    let table = [
        ("mce-underfitted-start-gains-complexity", [Holds::Yes, Holds::No]),
        ("mce-overfitted-start-loses-complexity", [Holds::Yes, Holds::No]),
        ("mce-overfitted-start-is-complex", [Holds::Yes, Holds::Yes]),
    ];
    for (id, holds) in table {
        for (last, holds) in [2.0, 0.1].into_iter().zip(holds) {
            let results = checked(id, 5, &|trial, record| {
                let over = 9.0 - 0.01 * f64::from(trial.key.repeat);
                let along = |(step, under)| {
                    point(step, [("over complexity", over - under), ("under complexity", under)])
                };
                record.result.curve = [(0, 0.3), (500, last)].map(along).into();
            });
            assert_eq!(results[0].holds, holds, "{id} {last}");
        }
    }
}

/// What others published is one number: level with it is an interval that stays above it less the margin.
#[test]
fn level_with_a_quoted_row_is_an_interval_about_one_number() {
    let quoted = catalogue().quoted("mce").unwrap();
    let table = [(0.0, 0.0, Holds::Yes), (3.0, -1.0, Holds::Undecided), (3.0, -3.0, Holds::No)];
    for (gain, on_wine, holds) in table {
        let results = checked("mce-level-with-others", 10, &|trial, record| {
            let dataset = &trial.key.dataset;
            let row = quoted.iter().find(|n| n.dataset == *dataset && n.method == "Others");
            let gain = if dataset == "wine" { on_wine } else { gain };
            let wave = 0.1 * (f64::from(trial.key.repeat) - 4.5);
            let accuracy = (row.unwrap().mean + gain + wave) / 100.0;
            record.result.metrics.insert("accuracy".to_owned(), accuracy);
        });
        let released = results.iter().find(|result| result.variant == "released").unwrap();
        assert_eq!(released.holds, holds, "{gain} {on_wine}");
    }
}

/// Who comes from behind is told by intervals over repeats, on either side of the place that is claimed.
#[test]
fn overtaking_is_told_by_intervals_over_repeats() {
    let overtakes = [
        (-0.01, 0.01, Holds::Yes),
        (0.01, 0.01, Holds::No),
        (-0.01, -0.01, Holds::No),
        (-0.01, -1e-4, Holds::Undecided),
    ];
    let always_ahead = [(0.01, 0.01, Holds::Yes), (-0.01, 0.01, Holds::No)];
    let table: [(&str, &[_]); 3] = [
        ("mce-bound-pays-from-750-images", &overtakes),
        ("mce-overtakes-gaussian-processes", &overtakes),
        ("mce-beats-support-vectors-at-every-size", &always_ahead),
    ];
    for (id, rows) in table {
        for (early, late, holds) in rows {
            let results = checked(id, 3, &|trial, record| {
                let ahead = f64::from(trial.key.method == "sizes-with-bound");
                let along = |step| {
                    let gain = if step < 750 { early } else { late };
                    let gain = gain + 1e-4 * f64::from(trial.key.repeat);
                    point(step, [("accuracy", 0.8 + ahead * gain)])
                };
                record.result.curve = [50, 500, 1000, 2000].map(along).into();
            });
            assert!(results.iter().any(|result| result.variant == "printed"));
            assert_eq!(agreed(&results), *holds, "{id} {early} {late}");
        }
    }
}

/// Two starts meet where they end within a test row in every fold, and above their beginnings.
#[test]
fn starts_meet_in_every_fold_or_not_at_all() {
    let table = [
        (0.7, 0.5, Holds::Yes),
        (0.7 + 1.0 / 30.0, 0.5, Holds::Yes),
        (0.8, 0.5, Holds::No),
        (0.7, 0.75, Holds::No),
    ];
    for (odd_end, start, holds) in table {
        let results = checked("mce-two-starts-meet", 5, &|trial, record| {
            let over = if trial.key.repeat == 3 { odd_end } else { 0.7 };
            let along = |(step, over, under)| {
                point(step, [("over accuracy", over), ("under accuracy", under)])
            };
            record.result.curve = [(0, 0.6, start), (500, over, 0.7)].map(along).into();
        });
        assert_eq!(agreed(&results), holds, "{odd_end} {start}");
    }
}

/// A profile that does not tune answers for given settings, and says so.
#[test]
fn answers_of_cells_that_were_not_tuned_are_marked() {
    let (methods, missing) = (plannable(), BTreeMap::new());
    let selection = made_up::selection();
    let claim =
        catalogue().claims("rftk").unwrap().into_iter().find(|c| c.id == "rftk-beats-rf").unwrap();
    for (profile, marked) in [("smoke", true), ("paper", false)] {
        let trials = plan(
            &catalogue().study("rftk/table1").unwrap(),
            &methods,
            profile,
            &selection,
            &|_| None,
        )
        .unwrap();
        let mut records = RecordSet::new();
        records.add(trials.iter().map(made_up::record));
        let context =
            RenderContext::new(catalogue(), &records, &methods, profile, &selection, &missing);
        let mut tuned_variants = 0;
        for result in claim.check(&context).unwrap() {
            let tunes = ["printed", "tuned"].contains(&result.variant.as_str());
            if result.holds == Holds::NotRun {
                continue;
            }
            assert_eq!(result.not_tuned > 0, marked && tunes, "{profile}: {result:?}");
            assert_eq!(result.numbers.contains("not tuned"), marked && tunes, "{result:?}");
            tuned_variants += usize::from(tunes);
        }
        assert_eq!(tuned_variants, 2, "{profile}");
    }
}
