use crate::error::{check_range, check_values};
use crate::summary::checked;
use crate::t_test::welch_summaries;
use crate::{MeanStd, StatisticsError, TTest};
use serde::{Deserialize, Serialize};

/// Half-widths up to this many points are narrow enough to decide even where the paper's standard deviation
/// is smaller.
const SHARP: f64 = 2.0;
/// A difference of at most this many points is a trifle, however sure it is.
const TRIFLE: f64 = 0.5;
/// Of an error, a point is this share of the printed value.
const POINT_OF_ERROR: f64 = 0.01;
/// Repeats from which a mean stands for a cell whose paper used more.
const ENOUGH: usize = 10;

/// What became of a published cell.
///
/// ```
/// use mercer_statistics::{Ours, Published, Verdict, verdict};
/// let published = Published { mean: 2.0, std: 1.0, repeats: 3, digits: 1 };
/// let of = |values: Vec<f64>, complete| {
///     let ours = Ours { values, paper_repeats: 3, complete };
///     verdict(&ours, &published).map(|judgement| judgement.verdict)
/// };
/// assert_eq!(of(vec![1.0, 2.0, 3.0], true)?, Verdict::Exact);
/// assert_eq!(of(vec![1.0, 2.0, 3.0], false)?, Verdict::Short); // cut short, whatever the digits say
/// assert_eq!(of(vec![41.9, 42.0, 42.1], true)?, Verdict::Differs { difference: 40.0 });
/// assert_eq!(of(vec![0.0, 2.0, 4.0], true)?, Verdict::Open); // ± 4.2: too few repeats to say
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Verdict {
    /// Mean and deviation are equal in every printed digit.
    Exact,
    /// A narrow interval shows no difference, or the difference is at most half a point.
    Agrees,
    /// The 95 % interval of the difference excludes 0. The difference is above half a point.
    Differs {
        /// Our mean minus theirs.
        difference: f64,
    },
    /// No difference is shown, and the interval is too wide to call that agreement.
    Open,
    /// Fewer repeats, epochs or rows than a verdict needs.
    Short,
}

/// Our side of a cell, in the paper's printed unit (percent, not fractions).
///
/// ```
/// use mercer_statistics::{Ours, Published, Verdict, verdict};
/// let published = Published { mean: 94.6, std: 1.1, repeats: 30, digits: 1 };
/// let ours = Ours { values: vec![94.0, 95.0, 94.5], paper_repeats: 30, complete: true };
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
/// let ours = Ours { values, paper_repeats: 10, complete: true };
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
/// let judgement = verdict(&Ours { values, paper_repeats: 10, complete: true }, &published)?;
/// // The same mean, but so wide an interval that this is no agreement.
/// assert_eq!(judgement.verdict, Verdict::Open);
/// assert!(judgement.half_width > 7.0);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Our mean minus theirs.
    pub difference: f64,
    /// 95 % interval of that difference. For one printed run it is the wider of the two possible intervals.
    pub interval: (f64, f64),
    /// Half its width.
    pub half_width: f64,
    /// The least that half its width can be: less only where one run is printed.
    pub least_half_width: f64,
}

/// Compares our repeats of a cell with what the paper printed, in points of accuracy.
///
/// With `h` half the width of Welch's 95 % interval of the difference `Δ` of the two means
/// ```text
/// Δ = ȳ − ȳ_paper,   error² = s²/J + s_paper²/R
/// ```
/// the verdict is, in this order:
///
/// - *exact*: mean and deviation (divided by `J` or by `J − 1`; papers seldom say) round to the
///   printed digits
/// - *short*: not complete, or fewer than 10 repeats and fewer than the paper's
/// - *differs*: `|Δ| > h`, and `|Δ|` is above half a point
/// - *agrees*: the rest where `|Δ| > h`, or where `h` is at most their deviation or two points, the larger
/// - *open*: the rest, too few repeats to say
///
/// Both sides split the same finite data set. Given that, their splits are independent draws, so that the
/// correction of [`crate::corrected_t`], which is for other samples, has no place here.
///
/// A cell whose rows or epochs were cut is short even where its digits happen to agree.
///
/// A number printed without a deviation may be a single run or the mean of many. Of a single run
/// `error² = s² (1/J + 1)`, of a mean of many `s²/J`. The cell differs if it does by the wider interval, agrees if
/// the narrower one holds 0, and is open in between.
///
/// ```
/// use mercer_statistics::{Ours, Published, Verdict, verdict};
/// let published = Published { mean: 94.6, std: 1.1, repeats: 30, digits: 1 };
/// let values = (0..30).map(|j| 94.0 + 0.1 * f64::from(j % 10)).collect();
/// let judgement = verdict(&Ours { values, paper_repeats: 30, complete: true }, &published)?;
/// assert_eq!(judgement.verdict, Verdict::Agrees);
/// assert!((judgement.difference + 0.15).abs() < 1e-9);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// No values; NaN or infinity among the numbers; a negative deviation; 0 repeats.
pub fn verdict(ours: &Ours, published: &Published) -> Result<Judgement, StatisticsError> {
    judged(ours, published, 1.0)
}

/// Returns the [`verdict`] on an error (RMSE, say). A point is 1 % of the printed value.
///
/// ```
/// use mercer_statistics::{Ours, Published, Verdict, verdict, verdict_on_error};
/// let values: Vec<f64> = (0..10).map(|j| 3.1 + 0.2 * f64::from(j)).collect(); // 4.0 ± 0.6
/// let ours = Ours { values, paper_repeats: 10, complete: true };
/// let published = Published { mean: 3.8, std: 0.1, repeats: 10, digits: 2 };
/// assert_eq!(verdict(&ours, &published)?.verdict, Verdict::Agrees); // as if these were percent
/// assert_eq!(verdict_on_error(&ours, &published)?.verdict, Verdict::Open); // ± 0.44 of 3.8
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// As [`verdict`].
pub fn verdict_on_error(ours: &Ours, published: &Published) -> Result<Judgement, StatisticsError> {
    judged(ours, published, POINT_OF_ERROR * published.mean.abs())
}

/// The verdict, where one point is so large.
fn judged(ours: &Ours, published: &Published, point: f64) -> Result<Judgement, StatisticsError> {
    let summary = checked("values", &ours.values, 1)?;
    check_values("published.mean", &[published.mean], 1)?;
    let positive = |x: f64| (0.0..f64::INFINITY).contains(&x);
    check_range("published.std", published.std, positive, "not negative and finite")?;
    check_range("published.repeats", published.repeats as f64, |r| r >= 1.0, "at least 1")?;

    let j = summary.count;
    let own = MeanStd { mean: summary.mean, std: summary.sample_std, count: j };
    let theirs = MeanStd { mean: published.mean, std: published.std, count: published.repeats };
    // One run adds no variance of its own here.
    let narrow = welch_summaries(own, theirs);
    let single = published.repeats == 1 && j > 1;
    let wide = if single {
        let error = summary.sample_std * (1.0 / j as f64 + 1.0).sqrt();
        TTest::new(narrow.mean_difference, error, j as f64 - 1.0)
    } else {
        narrow
    };
    let half = |test: TTest| {
        let (low, high) = test.interval(0.95);
        0.5 * (high - low)
    };
    let (least_half_width, half_width) = (half(narrow), half(wide));
    let difference = narrow.mean_difference;
    let size = difference.abs();

    let printed = |ours, theirs| prints_like(ours, theirs, published.digits);
    let exact = printed(summary.mean, published.mean)
        && (printed(summary.sample_std, published.std)
            || printed(summary.population_std, published.std));
    let sharp = half_width <= f64::max(if single { 0.0 } else { published.std }, SHARP * point);
    let verdict = if ours.complete && exact {
        Verdict::Exact
    } else if !ours.complete || j < ENOUGH.min(ours.paper_repeats) {
        Verdict::Short
    } else if size > half_width && size > TRIFLE * point {
        Verdict::Differs { difference }
    } else if size > half_width || (size <= least_half_width.max(TRIFLE * point) && sharp) {
        Verdict::Agrees
    } else {
        Verdict::Open
    };
    Ok(Judgement {
        verdict,
        difference,
        interval: wide.interval(0.95),
        half_width,
        least_half_width,
    })
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
        Ours { values, paper_repeats: 30, complete: true }
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
    fn a_clear_gap_differs_a_trifle_agrees_and_a_wide_interval_is_open() {
        let far = verdict(&ours(spread(80.0, 0.05, 30)), &CELL).unwrap();
        assert_eq!(far.verdict, Verdict::Differs { difference: far.difference });
        assert_relative_eq!(far.difference, -15.0, max_relative = 1e-12);
        let wide = verdict(&ours(spread(95.2, 1.0, 30)), &CELL).unwrap();
        assert!(wide.half_width > 2.0 && wide.difference.abs() < wide.half_width);
        assert_eq!(wide.verdict, Verdict::Open);
        // Sure to differ, by less than half a point and by more.
        let sure = Published { std: 0.1, ..CELL };
        let of = |mean| verdict(&ours(spread(mean, 0.01, 30)), &sure).unwrap();
        assert!(of(95.45).half_width < 0.1);
        assert_eq!(of(95.45).verdict, Verdict::Agrees);
        assert_eq!(of(95.55).verdict, Verdict::Differs { difference: of(95.55).difference });
        // Wide, and yet shown: the second side of the rule does not ask for a narrow interval.
        assert!(matches!(judge(&ours(spread(60.0, 1.0, 30))), Verdict::Differs { .. }));
    }

    /// Cells as they are printed and as they came out, of both metrics.
    #[test]
    fn a_point_is_that_of_the_metric() {
        // Ten values with this mean and deviation (divided by 9).
        let of = |mean: f64, std: f64| {
            ours(spread(mean, std / (10.0 * 99.0 / 12.0 / 9.0f64).sqrt(), 10))
        };
        let print = |mean, std| Published { mean, std, repeats: 30, digits: 2 };
        let words = |ours: &Ours, theirs: &Published| {
            [verdict(ours, theirs).unwrap(), verdict_on_error(ours, theirs).unwrap()].map(|found| {
                match found.verdict {
                    Verdict::Agrees => "agrees",
                    Verdict::Open => "open",
                    Verdict::Differs { .. } => "differs",
                    _ => "other",
                }
            })
        };
        // RMSE off by 62 %.
        assert_eq!(words(&of(4.15, 1.12), &print(2.56, 0.72)), ["differs"; 2]);
        // By 0.3 of 2.5, sure: less than half a point if it were an accuracy.
        assert_eq!(words(&of(2.86, 0.1), &print(2.56, 0.1)), ["agrees", "differs"]);
        // The same to the digit.
        assert_eq!(words(&of(7.85, 0.19), &print(7.85, 0.42)), ["agrees"; 2]);
        // In an interval of ±0.4, a tenth of the error and more than the printed deviation.
        assert_eq!(words(&of(3.9, 0.6), &print(3.8, 0.1)), ["agrees", "open"]);
        // A large error is not sharper than two points of it.
        assert_eq!(words(&of(50.0, 3.0), &print(50.1, 1.0)), ["open", "open"]);
    }

    #[test]
    fn the_interval_is_welchs() {
        let judgement = verdict(&ours(spread(95.1, 0.2, 10)), &CELL).unwrap();
        // s² = 0.2²·(10·99/12)/9 = 11/30; error² = 11/300 + 1/30
        let (a, b) = (11.0 / 300.0, 1.0 / 30.0);
        let freedom = (a + b) * (a + b) / (a * a / 9.0 + b * b / 29.0);
        let t = crate::distributions::student_quantile(0.025, freedom);
        assert_relative_eq!(judgement.half_width, t * f64::sqrt(a + b), max_relative = 1e-10);
        assert_eq!(judgement.half_width, judgement.least_half_width);
    }

    /// SciPy 1.17.1: `t.ppf(0.975, 19) = 2.0930240544083087`.
    #[test]
    fn one_printed_run_may_be_a_next_run_of_ours_or_a_mean_of_many() {
        let values = spread(87.5, 0.1, 20); // s² = 0.01·(20·399/12)/19 = 0.35
        let ours = Ours { paper_repeats: 20, ..ours(values) };
        let of =
            |mean| verdict(&ours, &Published { mean, std: 0.0, repeats: 1, digits: 2 }).unwrap();
        let half = |factor: f64| 2.093_024_054_408_308_7 * f64::sqrt(0.35 * factor);
        let (wide, narrow) = (half(1.0 + 1.0 / 20.0), half(1.0 / 20.0));
        assert_relative_eq!(of(87.0).half_width, wide, max_relative = 1e-10);
        assert_relative_eq!(of(87.0).least_half_width, narrow, max_relative = 1e-10);
        // Below half a point it is a trifle, by either interval.
        assert_eq!(of(87.5 - 0.49).verdict, Verdict::Agrees);
        assert_eq!(of(87.5 - 0.99 * wide).verdict, Verdict::Open);
        assert!(matches!(of(87.5 - 1.01 * wide).verdict, Verdict::Differs { .. }));
        // A deviation of one run means nothing.
        let said = Published { mean: 87.0, std: 40.0, repeats: 1, digits: 2 };
        assert_relative_eq!(verdict(&ours, &said).unwrap().half_width, wide, max_relative = 1e-10);
    }

    #[test]
    fn deterministic_sides_give_a_point_and_a_bad_cell_is_refused() {
        let cell = Published { mean: 5.0, std: 0.0, repeats: 1, digits: 1 };
        let ours = Ours { paper_repeats: 1, ..ours(vec![5.7]) };
        let judgement = verdict(&ours, &cell).unwrap();
        assert!(matches!(judgement.verdict, Verdict::Differs { .. }));
        assert_eq!(judgement.half_width, 0.0);
        assert!(verdict(&ours, &Published { std: -1.0, ..cell }).is_err());
        assert!(verdict(&ours, &Published { repeats: 0, ..cell }).is_err());
        assert!(verdict(&Ours { values: vec![], ..ours }, &cell).is_err());
    }
}
