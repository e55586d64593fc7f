//! Every test against the values of SciPy and statsmodels. They are in `fixtures/reference.json`, which
//! `fixtures/make.py` wrote and which names the versions.

#![allow(clippy::float_cmp, reason = "rank sums are multiples of one half, hence exact")]

use mercer_statistics::{
    MeanStd, Ours, Published, StatisticsError, Verdict, average_ranks, bayesian_correlated_t,
    below_the_best, cohen_d_z, corrected_t, friedman, hedges_g_z, holm, less_spread, mcnemar,
    nemenyi_critical_difference, page, paired_bootstrap, stouffer, summarise, vargha_delaney_a12,
    verdict, verdict_on_error, welch_summaries, wilcoxon_signed_rank, wilson_interval,
};
use serde_json::Value;

/// Relative, and tight even where p is 1e-250.
const TOLERANCE: f64 = 1e-10;

fn cases(name: &str) -> Vec<Value> {
    let reference: Value = serde_json::from_str(include_str!("fixtures/reference.json")).unwrap();
    let cases = reference[name].as_array().unwrap().clone();
    assert!(!cases.is_empty());
    cases
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("not a number: {value}"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn integer(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

#[track_caller]
fn assert_close(ours: f64, theirs: &Value, what: &str) {
    let theirs = number(theirs);
    let error = (ours - theirs).abs();
    assert!(error <= TOLERANCE * theirs.abs(), "{what}: {ours:e} against {theirs:e}");
}

#[test]
fn the_fixture_names_its_programs() {
    let programs: Vec<Value> = cases("made_by");
    let named = |p: &Value| p["program"].is_string() && p["version"].is_string();
    assert!(programs.len() == 3 && programs.iter().all(named));
}

fn table(case: &Value) -> Vec<Vec<f64>> {
    case["differences"].as_array().unwrap().iter().map(numbers).collect()
}

/// Two samples of resampled means, of 200,000 and of 400,000. The ends of a 95 % interval differ by a hundredth of the
/// standard error (one deviation), the standard errors by two in a thousand.
#[test]
fn resampled_rows_have_the_interval_of_scipy() {
    for case in cases("bootstrap") {
        let test = paired_bootstrap(&table(&case), 200_000, 3).unwrap();
        let error = number(&case["standard_error"]);
        assert!(
            (test.standard_error / error - 1.0).abs() < 0.01,
            "{} {error}",
            test.standard_error
        );
        let theirs = numbers(&case["interval_95"]);
        let (low, high) = test.interval(0.95);
        assert!((low - theirs[0]).abs() < 0.05 * error, "{low} {theirs:?}");
        assert!((high - theirs[1]).abs() < 0.05 * error, "{high} {theirs:?}");
    }
}

/// Against every draw of two of three seeds and of four rows, counted: 2,304 equally likely means.
#[test]
fn resampled_seeds_and_rows_have_the_distribution_of_all_draws() {
    for case in cases("pigeonhole") {
        let resamples = 400_000;
        let test = paired_bootstrap(&table(&case), resamples, 3).unwrap();
        assert!((test.mean - number(&case["mean"])).abs() < 1e-12);
        let error = number(&case["standard_error"]);
        assert!(
            (test.standard_error / error - 1.0).abs() < 0.01,
            "{} {error}",
            test.standard_error
        );
        let share = number(&case["not_above_zero"]);
        let deviation = (share * (1.0 - share) / resamples as f64).sqrt();
        assert!((test.p_two_sided - 2.0 * share).abs() < 10.0 * deviation, "{share} {test:?}");
    }
}

#[test]
fn summaries() {
    for case in cases("summaries") {
        let summary = summarise(&numbers(&case["values"])).unwrap();
        assert_close(summary.mean, &case["mean"], "mean");
        assert_close(summary.median, &case["median"], "median");
        assert_close(summary.sample_std, &case["sample_std"], "sample deviation");
        assert_close(summary.population_std, &case["population_std"], "population deviation");
    }
}

#[test]
fn t_tests_and_their_intervals() -> Result<(), StatisticsError> {
    let mut smallest = 1.0f64;
    for case in cases("t_tests") {
        let test = corrected_t(&numbers(&case["differences"]), number(&case["test_over_train"]))?;
        assert_close(test.mean_difference, &case["mean"], "mean");
        assert_close(test.standard_error, &case["standard_error"], "standard error");
        assert_close(test.statistic, &case["statistic"], "t");
        assert_close(test.p_two_sided, &case["p_two_sided"], "two-sided p");
        assert_close(test.p_greater, &case["p_greater"], "one-sided p");
        for (level, name) in [(0.95, "interval_95"), (0.999, "interval_999")] {
            let (low, high) = test.interval(level);
            // Relative to the width, but no finer than the ends can be represented.
            let slack = TOLERANCE * (high - low) + 4.0 * f64::EPSILON * high.abs().max(low.abs());
            for (ours, theirs) in [low, high].into_iter().zip(numbers(&case[name])) {
                assert!((ours - theirs).abs() <= slack, "{ours} against {theirs}");
            }
        }
        smallest = smallest.min(test.p_two_sided);
    }
    assert!(smallest < 1e-240, "no case reaches the far tail: {smallest:e}");
    Ok(())
}

#[test]
fn welch_from_summaries() {
    let side = |value: &Value| MeanStd {
        mean: number(&value[0]),
        std: number(&value[1]),
        count: integer(&value[2]),
    };
    for case in cases("welch") {
        let test = welch_summaries(side(&case["a"]), side(&case["b"]));
        assert_close(test.statistic, &case["statistic"], "t");
        assert_close(test.p_two_sided, &case["p_two_sided"], "two-sided p");
        assert_close(test.p_greater, &case["p_greater"], "one-sided p");
    }
}

#[test]
fn mcnemars() {
    for case in cases("mcnemar") {
        let test = mcnemar(integer(&case["b"]) as u64, integer(&case["c"]) as u64);
        assert_close(test.p_exact, &case["p_exact"], "exact p");
        assert_close(test.chi_squared, &case["chi_squared"], "chi squared");
        assert_close(test.p_chi_squared, &case["p_chi_squared"], "p of chi squared");
    }
}

#[test]
fn signed_ranks() -> Result<(), StatisticsError> {
    for case in cases("wilcoxon") {
        let test = wilcoxon_signed_rank(&numbers(&case["differences"]))?;
        let name = case["case"].as_str().unwrap();
        assert_eq!(test.exact, name.starts_with("exact"), "{name}");
        // SciPy gives the smaller sum, or for permutations the positive one.
        let theirs = number(&case["statistic"]);
        assert!(theirs == test.positive_ranks || theirs == test.negative_ranks, "{name}");
        assert_close(test.p_two_sided, &case["p_two_sided"], name);
    }
    Ok(())
}

#[test]
fn holms() -> Result<(), StatisticsError> {
    for case in cases("holm") {
        for (i, adjusted) in holm(&numbers(&case["p"]))?.into_iter().enumerate() {
            assert_close(adjusted, &case["adjusted"][i], "adjusted p");
        }
    }
    Ok(())
}

#[test]
fn friedmans_and_ranks() -> Result<(), StatisticsError> {
    for case in cases("friedman") {
        let scores: Vec<Vec<f64>> =
            case["scores"].as_array().unwrap().iter().map(numbers).collect();
        let test = friedman(&scores, true)?;
        assert_close(test.chi_squared, &case["chi_squared"], "chi squared");
        assert_close(test.p_chi_squared, &case["p_chi_squared"], "p of chi squared");
        if !case["iman_davenport"].is_null() {
            assert_close(test.iman_davenport, &case["iman_davenport"], "F");
            assert_close(test.p_iman_davenport, &case["p_iman_davenport"], "p of F");
        }
        for (j, rank) in average_ranks(&scores, true)?.into_iter().enumerate() {
            assert_close(rank, &case["ranks"][j], "rank");
        }
    }
    Ok(())
}

#[test]
fn critical_differences() -> Result<(), StatisticsError> {
    for case in cases("nemenyi") {
        let (groups, rows) = (integer(&case["groups"]), integer(&case["rows"]));
        let ours = nemenyi_critical_difference(groups, rows, number(&case["alpha"]))?;
        assert_close(ours, &case["critical_difference"], "critical difference");
    }
    Ok(())
}

#[test]
fn posteriors() -> Result<(), StatisticsError> {
    for case in cases("bayes") {
        let (correlation, rope) = (number(&case["correlation"]), number(&case["rope"]));
        let test = bayesian_correlated_t(&numbers(&case["differences"]), correlation, rope)?;
        assert_close(test.left, &case["left"], "left");
        assert_close(test.right, &case["right"], "right");
        // SciPy's own difference of two probabilities has absolute precision only.
        let error = (test.rope - number(&case["within"])).abs();
        assert!(error < 1e-13, "within: off by {error:e}");
    }
    Ok(())
}

#[test]
fn wilson_intervals() -> Result<(), StatisticsError> {
    for case in cases("wilson") {
        let (successes, trials) = (integer(&case["successes"]), integer(&case["trials"]));
        let interval = wilson_interval(successes as u64, trials as u64, number(&case["level"]))?;
        assert_close(interval.0, &case["interval"][0], "low");
        assert_close(interval.1, &case["interval"][1], "high");
    }
    Ok(())
}

#[test]
fn effect_sizes() -> Result<(), StatisticsError> {
    for case in cases("hedges") {
        let differences = numbers(&case["differences"]);
        assert_close(cohen_d_z(&differences)?, &case["cohen_d_z"], "d_z");
        if !case["hedges_g_z"].is_null() {
            assert_close(hedges_g_z(&differences)?, &case["hedges_g_z"], "g_z");
        }
    }
    let reference: Value = serde_json::from_str(include_str!("fixtures/reference.json")).unwrap();
    let case = &reference["a12"];
    let ours = vargha_delaney_a12(&numbers(&case["first"]), &numbers(&case["second"]))?;
    assert_close(ours, &case["a12"], "A12");
    Ok(())
}

#[test]
fn what_combines_several_p() -> Result<(), StatisticsError> {
    for case in cases("combined") {
        let test = stouffer(&numbers(&case["p"]))?;
        assert_close(test.z, &case["z"], "Stouffer's Z");
        assert_close(test.p_two_sided, &case["p_two_sided"], "its p");
    }
    for case in cases("best") {
        let p =
            below_the_best(number(&case["p"]), number(&case["freedom"]), integer(&case["rivals"]))?;
        // Both sides integrate numerically.
        let error = (p - number(&case["below"])).abs();
        assert!(error < 1e-7, "{p} against {}", case["below"]);
    }
    for case in cases("spreads") {
        let p = less_spread(&numbers(&case["first"]), &numbers(&case["second"]))?;
        assert_close(p, &case["p"], "p of two spreads");
    }
    for case in cases("trends") {
        let rows: Vec<Vec<f64>> = case["rows"].as_array().unwrap().iter().map(numbers).collect();
        let (z, p) = page(&rows)?;
        assert!(z > 0.0);
        assert_close(0.5 * p, &case["p_greater"], "one-sided p of Page's test");
    }
    Ok(())
}

/// Forty printed cells with what came out of them: Welch's interval, and the verdict by the rule.
#[test]
fn verdicts_on_forty_cells() -> Result<(), StatisticsError> {
    let all = cases("verdicts");
    assert_eq!(all.len(), 40);
    for case in all {
        let printed = numbers(&case["printed"]);
        let runs = integer(&case["runs"]);
        let ours = Ours { values: numbers(&case["values"]), paper_repeats: runs, complete: true };
        // So many digits that none of them is exact.
        let theirs = Published { mean: printed[0], std: printed[1], repeats: runs, digits: 12 };
        let judgement = if case["metric"] == "accuracy" {
            verdict(&ours, &theirs)?
        } else {
            verdict_on_error(&ours, &theirs)?
        };
        assert_close(judgement.interval.0, &case["interval"][0], "low");
        assert_close(judgement.interval.1, &case["interval"][1], "high");
        let word = match judgement.verdict {
            Verdict::Agrees => "agrees",
            Verdict::Differs { .. } => "differs",
            Verdict::Open => "open",
            Verdict::Exact | Verdict::Short => "neither",
        };
        assert_eq!(word, case["verdict"], "{}", case["cell"]);
    }
    Ok(())
}
