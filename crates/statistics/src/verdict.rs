use crate::error::{check_range, check_values};
use crate::summary::checked;
use crate::t_test::welch;
use crate::{MeanStd, StatisticsError, TTest};
use serde::{Deserialize, Serialize};

/// Half-widths up to this many points (percent of accuracy, or units of a target scaled to
/// [0, 100]) count as a sharp answer even where the paper's own deviation is smaller.
const SHARP: f64 = 2.0;
/// Of an error, at most this share of the printed one: two points of an error of 2.5 would call
/// agreement what is off by more than half. (The printed deviation alone makes an interval of a tenth
/// where it is a tenth.)
const SHARP_SHARE: f64 = 0.1;
/// Repeats from which a mean stands for a cell whose paper used more.
const ENOUGH: usize = 10;

/// What became of a published cell.
///
/// ```
/// use mercer_statistics::{Ours, Published, Verdict, verdict};
/// let published = Published { mean: 2.0, std: 1.0, repeats: 3, digits: 1 };
/// let of = |values: Vec<f64>, complete| {
///     let ours = Ours { values, test_over_train: 0.0, paper_repeats: 3, complete };
///     verdict(&ours, &published).map(|judgement| judgement.verdict)
/// };
/// assert_eq!(of(vec![1.0, 2.0, 3.0], true)?, Verdict::Exact);
/// assert_eq!(of(vec![1.0, 2.0, 3.0], false)?, Verdict::Short); // cut short, whatever the digits say
/// assert_eq!(of(vec![41.9, 42.0, 42.1], true)?, Verdict::Differs { difference: 40.0 });
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Verdict {
    /// Mean and deviation are equal in every printed digit.
    Exact,
    /// The 95 % interval of the difference covers 0 and is narrow, with enough repeats.
    Agrees,
    /// Anything else that was run in full.
    Differs {
        /// Our mean minus theirs.
        difference: f64,
    },
    /// Fewer repeats, epochs or rows than a verdict needs.
    Short,
}

/// Our side of a cell, in the unit in which the paper prints (percent, not fractions).
///
/// ```
/// use mercer_statistics::{Ours, Published, Verdict, verdict};
/// let published = Published { mean: 94.6, std: 1.1, repeats: 30, digits: 1 };
/// let ours =
///     Ours { values: vec![94.0, 95.0, 94.5], test_over_train: 0.25, paper_repeats: 30, complete: true };
/// assert_eq!(verdict(&ours, &published)?.verdict, Verdict::Short); // 3 repeats where there were 30
/// let none = Ours { values: vec![], ..ours };
/// assert!(verdict(&none, &published).is_err());
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ours {
    /// One value a repeat.
    pub values: Vec<f64>,
    /// `n_test / n_train` of the random splits; 0 with a fixed test set, where nothing is
    /// resampled.
    pub test_over_train: f64,
    /// Repeats behind the paper's cell.
    pub paper_repeats: usize,
    /// Whether every repeat had the paper's epochs and rows.
    pub complete: bool,
}

/// A cell as printed.
///
/// ```
/// use mercer_statistics::{Ours, Published, Verdict, verdict};
/// let values = (0..10).map(|j| 90.0 + 0.1 * f64::from(j % 2)).collect();
/// let ours = Ours { values, test_over_train: 0.0, paper_repeats: 10, complete: true };
/// let published = Published { mean: 94.6, std: 1.1, repeats: 30, digits: 1 };
/// let judgement = verdict(&ours, &published)?;
/// assert!((judgement.difference + 4.55).abs() < 1e-12);
/// assert!(matches!(judgement.verdict, Verdict::Differs { .. }));
/// // With digits as coarse as this, anything between 85 and 95 would print alike.
/// let coarse = Published { mean: 90.0, std: 0.0, digits: 0, ..published };
/// assert_eq!(verdict(&ours, &coarse)?.verdict, Verdict::Exact);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Printed mean.
    pub mean: f64,
    /// Printed deviation; of one run it is not used.
    pub std: f64,
    /// Repeats behind both.
    pub repeats: usize,
    /// Digits printed after the point.
    pub digits: usize,
}

/// A verdict with the numbers that it rests on.
///
/// ```
/// use mercer_statistics::{Ours, Published, Verdict, verdict};
/// let published = Published { mean: 90.0, std: 1.0, repeats: 10, digits: 1 };
/// let values = (0..10).map(|j| if j % 2 == 0 { 80.0 } else { 100.0 }).collect();
/// let ours = Ours { values, test_over_train: 0.25, paper_repeats: 10, complete: true };
/// let judgement = verdict(&ours, &published)?;
/// // The same mean, but so wide an interval that this is no agreement: an open question.
/// assert_eq!(judgement.verdict, Verdict::Differs { difference: 0.0 });
/// assert!(judgement.covers_zero() && judgement.half_width > 10.0);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Our mean minus theirs.
    pub difference: f64,
    /// 95 % interval of that difference.
    pub interval: (f64, f64),
    /// Half its width.
    pub half_width: f64,
}

impl Judgement {
    /// Whether the interval covers 0: no difference has been shown.
    ///
    /// A cell can be `Differs` and yet not be shown to differ, when its interval covers 0 but is
    /// too wide to call that agreement; such a cell is an open question.
    pub fn covers_zero(&self) -> bool {
        self.interval.0 <= 0.0 && 0.0 <= self.interval.1
    }
}

/// Compares our repeats of a cell with what the paper printed.
///
/// - *exact*: mean and deviation (divided by `J` or by `J − 1`; papers seldom say) round to the
///   printed digits
/// - *short*: not complete, or fewer than 10 repeats and fewer than the paper's
/// - *agrees*: the 95 % interval of (our mean − theirs) covers 0, and its half-width is at most
///   their deviation or 2 points, the larger (of an error: [`verdict_on_error`])
/// - *differs*: the rest
///
/// A cell whose rows or epochs were cut is short even where its digits happen to agree. The
/// interval is Welch's, with both errors corrected for overlapping splits as in
/// [`crate::corrected_t`]:
/// ```text
/// error² = (1/J + ρ) s² + (1/R + ρ) s_paper²,   ρ = n_test / n_train
/// ```
/// and Welch–Satterthwaite degrees of freedom. A paper that prints one run (`R = 1`) prints no deviation
/// that means anything: its run is taken for one more of ours, `s_paper = s` with `J − 1` degrees of
/// freedom, which is the prediction interval of a next run. A single run of ours adds no variance.
///
/// ```
/// use mercer_statistics::{Ours, Published, Verdict, verdict};
/// let published = Published { mean: 94.6, std: 1.1, repeats: 30, digits: 1 };
/// let values = (0..30).map(|j| 94.0 + 0.1 * f64::from(j % 10)).collect();
/// let ours = Ours { values, test_over_train: 0.25, paper_repeats: 30, complete: true };
/// let judgement = verdict(&ours, &published)?;
/// assert_eq!(judgement.verdict, Verdict::Agrees);
/// assert!((judgement.difference + 0.15).abs() < 1e-9);
/// // One printed run a point away from runs that lie a point apart.
/// let runs = (0..20).map(|j| 86.0 + 0.15 * f64::from(j)).collect();
/// let ours = Ours { values: runs, test_over_train: 0.0, paper_repeats: 1, complete: true };
/// let run = Published { mean: 86.4, std: 0.0, repeats: 1, digits: 2 };
/// assert_eq!(verdict(&ours, &run)?.verdict, Verdict::Agrees);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// No values; NaN or infinity among the numbers; a negative deviation or ratio; 0 repeats.
pub fn verdict(ours: &Ours, published: &Published) -> Result<Judgement, StatisticsError> {
    judged(ours, published, published.std.max(SHARP))
}

/// [`verdict`] on an error, RMSE say, whose unit is not the point of accuracy: an interval is sharp whose
/// half-width is at most 2 points and at most a tenth of the printed error.
///
/// ```
/// use mercer_statistics::{Ours, Published, Verdict, verdict, verdict_on_error};
/// let values: Vec<f64> = (0..10).map(|j| 3.1 + 0.2 * f64::from(j)).collect(); // 4.0 ± 0.6
/// let ours = Ours { values, test_over_train: 0.25, paper_repeats: 10, complete: true };
/// let published = Published { mean: 3.2, std: 0.7, repeats: 10, digits: 2 };
/// assert_eq!(verdict(&ours, &published)?.verdict, Verdict::Agrees); // as if these were percent
/// let on_error = verdict_on_error(&ours, &published)?;
/// assert!(matches!(on_error.verdict, Verdict::Differs { .. }) && on_error.covers_zero()); // open
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// As [`verdict`].
pub fn verdict_on_error(ours: &Ours, published: &Published) -> Result<Judgement, StatisticsError> {
    judged(ours, published, SHARP.min(SHARP_SHARE * published.mean.abs()))
}

/// The verdict, where a half-width up to `sharp` is a sharp answer.
fn judged(ours: &Ours, published: &Published, sharp: f64) -> Result<Judgement, StatisticsError> {
    let summary = checked("values", &ours.values, 1)?;
    check_values("published.mean", &[published.mean], 1)?;
    let positive = |x: f64| (0.0..f64::INFINITY).contains(&x);
    check_range("published.std", published.std, positive, "not negative and finite")?;
    check_range("test_over_train", ours.test_over_train, positive, "not negative and finite")?;
    check_range("published.repeats", published.repeats as f64, |r| r >= 1.0, "at least 1")?;

    let (j, r, rho) = (summary.count, published.repeats, ours.test_over_train);
    let test = if r == 1 && j > 1 {
        let error = summary.sample_std * (1.0 / j as f64 + 1.0 + 2.0 * rho).sqrt();
        TTest::new(summary.mean - published.mean, error, j as f64 - 1.0)
    } else {
        welch(
            MeanStd { mean: summary.mean, std: summary.sample_std, count: j },
            1.0 / j as f64 + rho,
            MeanStd { mean: published.mean, std: published.std, count: r },
            1.0 / r as f64 + rho,
        )
    };
    let interval = test.interval(0.95);
    let half_width = 0.5 * (interval.1 - interval.0);
    let difference = test.mean_difference;
    let mut judgement = Judgement { verdict: Verdict::Short, difference, interval, half_width };

    let printed = |ours, theirs| prints_like(ours, theirs, published.digits);
    let exact = printed(summary.mean, published.mean)
        && (printed(summary.sample_std, published.std)
            || printed(summary.population_std, published.std));
    judgement.verdict = if ours.complete && exact {
        Verdict::Exact
    } else if !ours.complete || j < ENOUGH.min(ours.paper_repeats) {
        Verdict::Short
    } else if judgement.covers_zero() && half_width <= sharp {
        Verdict::Agrees
    } else {
        Verdict::Differs { difference }
    };
    Ok(judgement)
}

/// Whether two numbers are the same once rounded to so many digits after the point.
fn prints_like(a: f64, b: f64, digits: usize) -> bool {
    let rounded = |x: f64| format!("{x:.digits$}").parse::<f64>();
    // Parsed back, so that "-0.0" equals "0.0".
    rounded(a) == rounded(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    fn spread(mean: f64, step: f64, repeats: usize) -> Vec<f64> {
        (0..repeats).map(|j| mean + step * (j as f64 - 0.5 * (repeats as f64 - 1.0))).collect()
    }

    fn ours(values: Vec<f64>) -> Ours {
        Ours { values, test_over_train: 0.25, paper_repeats: 30, complete: true }
    }

    const CELL: Published = Published { mean: 95.0, std: 1.0, repeats: 30, digits: 2 };

    fn judge(ours: &Ours) -> Verdict {
        verdict(ours, &CELL).unwrap().verdict
    }

    #[test]
    fn exact_needs_every_digit_of_mean_and_deviation() {
        let values = vec![94.0, 96.0]; // deviation 1 divided by J, √2 divided by J − 1
        let mut cell = Published { mean: 95.0, std: 1.00, repeats: 2, digits: 2 };
        let ours = Ours { paper_repeats: 2, ..ours(values) };
        assert_eq!(verdict(&ours, &cell).unwrap().verdict, Verdict::Exact);
        cell.std = 1.41;
        assert_eq!(verdict(&ours, &cell).unwrap().verdict, Verdict::Exact);
        cell.std = 1.42;
        assert_ne!(verdict(&ours, &cell).unwrap().verdict, Verdict::Exact);
        cell = Published { mean: 95.01, std: 1.0, ..cell };
        assert_ne!(verdict(&ours, &cell).unwrap().verdict, Verdict::Exact);
        let cut = Ours { complete: false, ..ours };
        assert_eq!(
            verdict(&cut, &Published { mean: 95.0, std: 1.0, repeats: 2, digits: 2 })
                .unwrap()
                .verdict,
            Verdict::Short
        );
    }

    #[test]
    fn ten_repeats_or_all_of_the_papers_are_enough() {
        assert_eq!(judge(&ours(spread(95.1, 0.2, 9))), Verdict::Short);
        assert_eq!(judge(&ours(spread(95.1, 0.2, 10))), Verdict::Agrees);
        let all = Ours { paper_repeats: 5, ..ours(spread(95.1, 0.2, 5)) };
        let cell = Published { repeats: 5, ..CELL };
        assert_eq!(verdict(&all, &cell).unwrap().verdict, Verdict::Agrees);
        let cut = Ours { complete: false, ..ours(spread(95.1, 0.2, 30)) };
        assert_eq!(judge(&cut), Verdict::Short);
    }

    #[test]
    fn a_clear_gap_differs_and_a_wide_interval_is_no_agreement() {
        let far = verdict(&ours(spread(80.0, 0.05, 30)), &CELL).unwrap();
        assert_eq!(far.verdict, Verdict::Differs { difference: far.difference });
        assert_relative_eq!(far.difference, -15.0, max_relative = 1e-12);
        assert!(!far.covers_zero());
        let wide = verdict(&ours(spread(95.2, 1.0, 30)), &CELL).unwrap();
        assert!(wide.covers_zero() && wide.half_width > 2.0);
        assert!(matches!(wide.verdict, Verdict::Differs { .. }));
    }

    /// Cells as they are printed and as they came out, of both metrics.
    #[test]
    fn sharpness_is_that_of_the_metric() {
        // Ten values with this mean and deviation (divided by 9).
        let of = |mean: f64, std: f64| {
            ours(spread(mean, std / (10.0 * 99.0 / 12.0 / 9.0f64).sqrt(), 10))
        };
        let print = |mean, std| Published { mean, std, repeats: 30, digits: 2 };
        let words = |ours: &Ours, theirs: &Published| {
            [verdict(ours, theirs).unwrap(), verdict_on_error(ours, theirs).unwrap()].map(|found| {
                match (found.verdict, found.covers_zero()) {
                    (Verdict::Agrees, _) => "agrees",
                    (_, true) => "open",
                    _ => "differs",
                }
            })
        };
        // RMSE off by 62 % and by 52 %, in an interval of ±1.6 and ±1.4.
        assert_eq!(words(&of(4.15, 1.12), &print(2.56, 0.72)), ["agrees", "open"]);
        assert_eq!(words(&of(3.91, 0.98), &print(2.57, 0.63)), ["agrees", "open"]);
        // The same to the digit, in ±6 % and ±1 %.
        assert_eq!(words(&of(7.85, 0.19), &print(7.85, 0.42)), ["agrees"; 2]);
        assert_eq!(words(&of(46.35, 0.27), &print(46.34, 0.23)), ["agrees"; 2]);
        assert_eq!(words(&of(7.84, 0.19), &print(8.35, 0.28)), ["differs"; 2]);
        // A large error is not sharper than two points.
        assert_eq!(words(&of(50.0, 3.0), &print(50.1, 3.0)), ["open", "open"]);
        assert_eq!(words(&of(94.4, 1.0), &print(94.6, 1.1)), ["agrees"; 2]);
    }

    #[test]
    fn the_interval_is_welchs_with_both_errors_corrected() {
        let judgement = verdict(&ours(spread(95.1, 0.2, 10)), &CELL).unwrap();
        // s² = 0.2²·(10·99/12)/9 = 11/30; error² = 0.35·11/30 + (1/30 + 0.25)·1
        let (a, b) = (0.35 * 11.0 / 30.0, 1.0 / 30.0 + 0.25);
        let freedom = (a + b) * (a + b) / (a * a / 9.0 + b * b / 29.0);
        let t = crate::distributions::student_quantile(0.025, freedom);
        assert_relative_eq!(judgement.half_width, t * f64::sqrt(a + b), max_relative = 1e-10);
    }

    /// SciPy 1.17.1: `t.ppf(0.975, 19) = 2.0930240544083087`.
    #[test]
    fn one_printed_run_is_a_next_run_of_ours() {
        let values = spread(87.5, 0.1, 20); // s² = 0.01·(20·399/12)/19 = 0.35
        let ours = Ours { paper_repeats: 20, test_over_train: 0.0, ..ours(values) };
        let of =
            |mean| verdict(&ours, &Published { mean, std: 0.0, repeats: 1, digits: 2 }).unwrap();
        let half = 2.093_024_054_408_308_7 * f64::sqrt(0.35 * (1.0 + 1.0 / 20.0));
        assert_relative_eq!(of(87.0).half_width, half, max_relative = 1e-10);
        assert_eq!(of(87.5 - 0.99 * half).verdict, Verdict::Agrees);
        assert!(matches!(of(87.5 - 1.01 * half).verdict, Verdict::Differs { .. }));
        // A deviation of one run means nothing.
        let said = Published { mean: 87.0, std: 40.0, repeats: 1, digits: 2 };
        assert_relative_eq!(verdict(&ours, &said).unwrap().half_width, half, max_relative = 1e-10);
    }

    #[test]
    fn deterministic_sides_give_a_point_and_a_bad_cell_is_refused() {
        let cell = Published { mean: 5.0, std: 0.0, repeats: 1, digits: 1 };
        let ours = Ours { paper_repeats: 1, test_over_train: 0.0, ..ours(vec![5.2]) };
        let judgement = verdict(&ours, &cell).unwrap();
        assert!(matches!(judgement.verdict, Verdict::Differs { .. }));
        assert_eq!(judgement.half_width, 0.0);
        assert!(verdict(&ours, &Published { std: -1.0, ..cell }).is_err());
        assert!(verdict(&ours, &Published { repeats: 0, ..cell }).is_err());
        assert!(verdict(&Ours { values: vec![], ..ours }, &cell).is_err());
    }
}
