//! Split conformal prediction: sets of classes, and intervals of numbers. They hold the truth as often as is asked.

use crate::kernel_matrix::require_whole;
use crate::passes::fit_part;
use crate::{Choices, Splitting, Table, WorkbenchError, method_for, require_weighing};
use mercer_datasets::{Preparation, Split};
use mercer_learning::{LeftOut, Method, Predictor, Streams, Targets};
use mercer_linalg::MatrixView;
use mercer_statistics::wilson_interval;
use ndarray::{Array2, ArrayView1};
use serde::Serialize;

/// How often sets of classes, or intervals, shall hold the truth.
///
/// ```
/// use mercer_workbench::Wanted;
/// let nine_in_ten = Wanted { each_class: true, ..Wanted::share(0.9) }; // of every class, however rare
/// assert!(!nine_in_ten.jackknife);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wanted {
    /// The share of rows, in `(0, 1)`.
    pub share: f64,
    /// Whether the share holds within each class, and not over all rows together.
    pub each_class: bool,
    /// Whether each training row is left out by itself, in place of some set apart: jackknife+ of [`crate::Model::jackknife`].
    pub jackknife: bool,
}

/// Coverage and size of a method's conformal sets.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Choices, Splitting, Table, Wanted, coverage};
/// let rows: String = (0..80).map(|row| format!("{},{}.5\n", row % 9, (row * 37) % 80)).collect();
/// let file = RowFile::spooled(format!("x,y\n{rows}").as_bytes(), "toys", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let splitting = Splitting::Folds { folds: 4, repeats: 1 };
/// let wanted = Wanted::share(0.8);
/// let found = coverage(BASELINES, "mean", &table, splitting, wanted, &Choices::plain(), |_, _| {})?;
/// assert_eq!((found.rows, found.calibration_rows), (80, 15)); // each row tested once; a quarter of 60 calibrates
/// assert!(found.interval.0 < 0.8 && 0.8 < found.interval.1);
/// assert!(50.0 < found.size && found.size < 80.0); // of numbers from 0.5 to 79.5
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coverage {
    /// The method.
    pub method: String,
    /// The share that was asked for.
    pub wanted: f64,
    /// Whether it was asked for each class.
    pub each_class: bool,
    /// Share of the test rows whose set holds the truth, over all splits.
    pub covered: f64,
    /// Wilson's 95 % interval of that share, with the test rows of one repeat.
    pub interval: (f64, f64),
    /// Mean width of the intervals in the target's unit, or mean classes in a set.
    pub size: f64,
    /// The class that is covered least, its share and test rows over all splits. Regression has none.
    pub worst_class: Option<(String, f64, u64)>,
    /// Number of splits.
    pub splits: usize,
    /// Test rows of one repeat.
    pub rows: u64,
    /// Whether the rows of the fit calibrated, each left out by itself.
    pub jackknife: bool,
    /// Calibration rows of the first split.
    pub calibration_rows: usize,
}

/// Share of the training rows that calibrates.
const CALIBRATION: f64 = 0.25;

/// Evaluates split conformal prediction, or jackknife+ where that is wanted ([`crate::Model::jackknife`]). Of the first, in each split a quarter of the training rows is set apart, and the method is
/// fitted to the others. The quarter says how far from a prediction the truth may be.
///
/// With `n` calibration rows, of each class by itself if that is wanted, the radius is the `⌈(n + 1) c⌉`-th smallest of
/// their scores. A set holds the truth of a new row with a probability between `c` and `c + 1/(n + 1)`. This is the
/// mean over such rows and calibrations, whatever the method (Vovk, Gammerman and Shafer 2005; Lei et al. 2018). The
/// score of a number is its distance from the prediction. The score of a class is how much the largest decision value
/// of another class is above its own.
///
/// ```
/// # use mercer_baselines::BASELINES;
/// # use mercer_datasets::{RowFile, SchemaOptions};
/// # use mercer_workbench::{Choices, Splitting, Table, Wanted, coverage};
/// # let rows: String = (0..60).map(|row| format!("{},{}\n", row, if row < 30 { "a" } else { "b" })).collect();
/// # let file = RowFile::spooled(format!("x,kind\n{rows}").as_bytes(), "toys", None)?;
/// # let table = Table::read(&file, &SchemaOptions::default())?;
/// let (splitting, choices) = (Splitting::default(), Choices::plain());
/// let of = Wanted::share;
/// let found = coverage(BASELINES, "kernel-ridge", &table, splitting, of(0.9), &choices, |_, _| {})?;
/// assert!(found.covered > 0.8 && found.size < 1.5); // mostly the one right class
/// let refused = coverage(BASELINES, "kernel-ridge", &table, splitting, of(0.99), &choices, |_, _| {});
/// assert!(refused.unwrap_err().to_string().contains("calibration rows")); // 12 cannot say so much
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
///
/// # Errors
/// [`WorkbenchError::Argument`] if the share is not in `(0, 1)` or wants more calibration rows than there are, if
/// classes are wanted of numbers, or for a table that is divided by a column, whose rows are not exchangeable; as
/// [`crate::evaluate`].
pub fn coverage(
    methods: &[Method],
    name: &str,
    table: &Table,
    splitting: Splitting,
    wanted: Wanted,
    choices: &Choices<'_>,
    mut told: impl FnMut(usize, usize),
) -> Result<Coverage, WorkbenchError> {
    wanted.check(table.task().outputs())?;
    if table.division.is_some() {
        let must =
            "without --groups, --time, --split-column and --test: its rows must be exchangeable";
        return Err(wanted.refused(must));
    }
    table.require_held("coverage")?;
    let method = method_for(methods, name, table.task())?;
    require_weighing(methods, name, table, choices)?;
    require_whole(table, &choices.settings)?;
    let streams = Streams::root(choices.seed);
    let splits = table.splits(splitting, &streams)?;
    let mut tally = Tally { classes: vec![(0, 0); table.task().outputs()], size: 0.0 };
    let mut calibration_rows = 0;
    for (index, split) in splits.iter().enumerate() {
        choices.limits.check()?;
        let own = streams.child(&format!("split {index}"));
        let calibrated = if wanted.jackknife {
            tally.leave_out(wanted, method, table, split, choices, &own)?
        } else {
            tally.set_apart(wanted, method, table, split, choices, &own)?
        };
        if index == 0 {
            calibration_rows = calibrated;
        }
        told(index + 1, splits.len());
    }
    let (seen, held) = tally.classes.iter().fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    let repeats = splitting.repeats() as u64;
    let rows = (seen / repeats).max(1);
    let labels = &table.schema.target.labels;
    let share = |&(rows, held): &(u64, u64)| held as f64 / rows as f64;
    let tested = labels.iter().zip(&tally.classes).filter(|(_, counts)| counts.0 > 0);
    let worst = tested.min_by(|a, b| share(a.1).total_cmp(&share(b.1)));
    Ok(Coverage {
        method: method.name.to_owned(),
        wanted: wanted.share,
        each_class: wanted.each_class,
        jackknife: wanted.jackknife,
        covered: share(&(seen, held)),
        interval: wilson_interval((held / repeats).min(rows), rows, 0.95)?,
        size: tally.size / seen as f64,
        worst_class: worst.map(|(label, counts)| (label.clone(), share(counts), counts.0)),
        splits: splits.len(),
        rows,
        calibration_rows,
    })
}

/// Test rows and those that are covered, by class, and the sum of the sizes.
struct Tally {
    classes: Vec<(u64, u64)>,
    size: f64,
}

impl Tally {
    /// Counts the test rows of a split in intervals by jackknife+; returns how many rows are left out by themselves.
    fn leave_out(
        &mut self,
        wanted: Wanted,
        method: &Method,
        table: &Table,
        split: &Split,
        choices: &Choices<'_>,
        streams: &Streams,
    ) -> Result<usize, WorkbenchError> {
        let (fitted, preparation, _) = fit_part(method, table, &split.train, choices, streams)?;
        let left = left_out(&*fitted.outcome.predictor, method.name, choices.threads)?;
        let sample = table.sample(&split.test, &preparation)?;
        let ends = wanted.ends(&*left, sample.matrix())?;
        self.see_ends(&ends, sample.values().as_ref(), &preparation);
        Ok(left.residuals().len())
    }

    /// Counts the test rows of a split by training rows that are set apart; returns how many these are.
    fn set_apart(
        &mut self,
        wanted: Wanted,
        method: &Method,
        table: &Table,
        split: &Split,
        choices: &Choices<'_>,
        streams: &Streams,
    ) -> Result<usize, WorkbenchError> {
        let apart = Splitting::HoldOut { test: CALIBRATION, repeats: 1 };
        let truths = table.chosen(&split.train);
        let apart = apart.splits(&truths, &streams.child("calibration"))?.remove(0);
        let [proper, calibration] = [apart.train, apart.test]
            .map(|places| places.into_iter().map(|at| split.train[at]).collect::<Vec<_>>());
        let (fitted, preparation, _) = fit_part(method, table, &proper, choices, streams)?;
        let predictor = &*fitted.outcome.predictor;
        let (scores, truths) = nonconformity(predictor, table, &calibration, &preparation)?;
        let of_truth = scores.rows().into_iter().zip(&truths).map(|(row, &truth)| row[truth]);
        let radii = wanted.radii(of_truth.collect(), &truths, table.task().outputs())?;
        let (scores, truths) = nonconformity(predictor, table, &split.test, &preparation)?;
        self.see(&scores, &truths, &radii, &preparation);
        Ok(calibration.len())
    }

    fn see_ends(
        &mut self,
        ends: &[(f64, f64)],
        truths: Option<&ArrayView1<'_, f64>>,
        by: &Preparation,
    ) {
        let unit = by.target().map_or(1.0, |standard| standard.invert(1.0) - standard.invert(0.0));
        for (&(low, high), truth) in ends.iter().zip(truths.into_iter().flatten()) {
            let (seen, held) = &mut self.classes[0];
            *seen += 1;
            *held += u64::from((low..=high).contains(truth));
            self.size += (high - low) * unit;
        }
    }

    fn see(&mut self, scores: &Array2<f64>, truths: &[usize], radii: &[f64], by: &Preparation) {
        let unit = by.target().map_or(1.0, |standard| standard.invert(1.0) - standard.invert(0.0));
        for (row, &truth) in scores.rows().into_iter().zip(truths) {
            let (seen, held) = &mut self.classes[truth];
            *seen += 1;
            *held += u64::from(row[truth] <= radii[truth]);
            // An interval reaches as far to both sides.
            self.size += if row.len() == 1 {
                2.0 * radii[0] * unit
            } else {
                row.iter().zip(radii).filter(|(score, radius)| score <= radius).count() as f64
            };
        }
    }
}

impl Wanted {
    /// Of all rows together, by some that are set apart.
    ///
    /// ```
    /// let wanted = mercer_workbench::Wanted::share(0.9);
    /// assert!(!wanted.each_class && !wanted.jackknife);
    /// ```
    pub const fn share(share: f64) -> Self {
        Self { share, each_class: false, jackknife: false }
    }

    fn refused(self, must: impl Into<String>) -> WorkbenchError {
        let value = self.share.to_string();
        WorkbenchError::Argument { name: "coverage", value, must: must.into() }
    }

    /// Refuses what no rows can give, before anything is fitted.
    pub(crate) fn check(self, classes: usize) -> Result<(), WorkbenchError> {
        if !(self.share > 0.0 && self.share < 1.0) {
            return Err(self.refused("above 0 and below 1"));
        }
        if self.each_class && classes == 1 {
            return Err(self.refused("asked for without --each-class: the target is a number"));
        }
        if self.jackknife && classes > 1 {
            return Err(self.refused(
                "asked for without --jackknife, which is for numbers: sets of classes need calibration rows",
            ));
        }
        Ok(())
    }

    /// A radius a class, or the one of numbers, from the scores of the truths of calibration rows. A class that
    /// has too few rows is in every set.
    pub(crate) fn radii(
        self,
        scores: Vec<f64>,
        truths: &[usize],
        classes: usize,
    ) -> Result<Vec<f64>, WorkbenchError> {
        let parts: Vec<Vec<f64>> = if self.each_class {
            let of = |class: usize| scores.iter().zip(truths).filter(move |own| *own.1 == class);
            (0..classes).map(|class| of(class).map(|own| *own.0).collect()).collect()
        } else {
            vec![scores]
        };
        let most = parts.iter().map(Vec::len).max().unwrap_or(0);
        let found: Vec<Option<f64>> =
            parts.into_iter().map(|own| radius(own, self.share)).collect();
        if found.iter().all(Option::is_none) {
            let (share, each) = (
                most as f64 / (most + 1) as f64,
                if self.each_class { " in the largest class" } else { "" },
            );
            return Err(self.refused(format!(
                "at most {share:.3} with {most} calibration rows{each}; ask for less, or add rows"
            )));
        }
        let radii = found.into_iter().map(|radius| radius.unwrap_or(f64::INFINITY));
        Ok(if self.each_class { radii.collect() } else { radii.cycle().take(classes).collect() })
    }
}

/// What a predictor says without each of its rows.
pub(crate) fn left_out(
    predictor: &dyn Predictor,
    method: &str,
    threads: usize,
) -> Result<Box<dyn LeftOut>, WorkbenchError> {
    let left = predictor.left_out(threads).ok_or_else(|| WorkbenchError::Argument {
        name: "coverage",
        value: format!("asked of {method} without rows that calibrate"),
        must: "given some (--calibration FILE): only kernel-ridge and an exact gaussian-process leave their training rows \
               out, of numbers without weights and at most 12000 rows"
            .to_owned(),
    })?;
    Ok(left?)
}

impl Wanted {
    /// The interval of each row by jackknife+: of `f_{−i}(x) + |e_i|` the `⌈(n + 1) c⌉`-th smallest, and of
    /// `f_{−i}(x) − |e_i|` the `⌈(n + 1) c⌉`-th largest.
    pub(crate) fn ends(
        self,
        left: &dyn LeftOut,
        inputs: MatrixView<'_>,
    ) -> Result<Vec<(f64, f64)>, WorkbenchError> {
        const BLOCK: usize = 256; // rows whose values are held at once
        let radii = left.residuals().mapv(f64::abs);
        let n = radii.len();
        let place = ((n + 1) as f64 * self.share - 1e-9).ceil().max(1.0) as usize;
        if place > n {
            let most = n as f64 / (n + 1) as f64;
            return Err(self.refused(format!(
                "at most {most:.3} with {n} training rows; ask for less, or add rows"
            )));
        }
        let mut ends = Vec::new();
        let rows = inputs.dim().0;
        for start in (0..rows).step_by(BLOCK) {
            let values = inputs.within(start..(start + BLOCK).min(rows), |part| left.values(part));
            for row in values.rows() {
                let nth = |mut own: Vec<f64>, place: usize| {
                    *own.select_nth_unstable_by(place, f64::total_cmp).1
                };
                let high = nth((&row + &radii).to_vec(), place - 1);
                let low = nth((&row - &radii).to_vec(), n - place);
                ends.push((low, high));
            }
        }
        Ok(ends)
    }
}

/// The `⌈(n + 1) c⌉`-th smallest of `n` scores; none where there are too few.
fn radius(mut scores: Vec<f64>, wanted: f64) -> Option<f64> {
    // A hair below, so that 0.9 of 9 + 1 is the ninth.
    let place = ((scores.len() + 1) as f64 * wanted - 1e-9).ceil() as usize;
    scores.sort_by(f64::total_cmp);
    scores.get(place.max(1) - 1).copied()
}

/// How strange each class would be as the truth of a row (`m × K`), and which is the truth; of numbers the
/// distance of the truth, `m × 1`.
fn nonconformity(
    predictor: &dyn Predictor,
    table: &Table,
    rows: &[usize],
    preparation: &Preparation,
) -> Result<(Array2<f64>, Vec<usize>), WorkbenchError> {
    let sample = table.sample(rows, preparation)?;
    let mut scores = predictor.decision_rows(sample.matrix())?;
    let truths = match sample.targets() {
        Targets::Classes { labels, .. } => {
            for mut row in scores.rows_mut() {
                let margins = margins(row.view());
                row.iter_mut().zip(margins).for_each(|(to, margin)| *to = margin);
            }
            labels.iter().map(|&label| label as usize).collect()
        }
        Targets::Real(values) => {
            scores.column_mut(0).zip_mut_with(values, |score, y| *score = (*score - y).abs());
            vec![0; rows.len()]
        }
    };
    Ok((scores, truths))
}

/// How much the largest other value is above each.
pub(crate) fn margins(values: ArrayView1<'_, f64>) -> Vec<f64> {
    let largest = |without: usize| {
        let others = values.iter().enumerate().filter(|&(at, _)| at != without);
        others.map(|(_, &value)| value).fold(f64::NEG_INFINITY, f64::max)
    };
    values.iter().enumerate().map(|(at, value)| largest(at) - value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_baselines::BASELINES;
    use mercer_datasets::{RowFile, SchemaOptions};
    use std::fmt::Write as _;
    use std::path::Path;

    fn data(name: &str, target: Option<&str>) -> Table {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
        let file = RowFile::open(&data.join(name), None).unwrap();
        let target = target.map(str::to_owned);
        Table::read(&file, &SchemaOptions { target, ..SchemaOptions::default() }).unwrap()
    }

    #[test]
    fn the_radius_is_the_order_statistic() {
        let scores = || (1..=9).rev().map(f64::from).collect::<Vec<_>>();
        assert_eq!(radius(scores(), 0.9), Some(9.0));
        assert_eq!(radius(scores(), 0.5), Some(5.0));
        assert_eq!(radius(scores(), 0.41), Some(5.0));
        assert_eq!(radius(scores(), 0.01), Some(1.0));
        assert_eq!(radius(scores(), 0.91), None);
        let strange = margins(ndarray::aview1(&[0.2, 1.0, 0.7]));
        let expected = [0.8, -0.3, 0.3];
        assert!(strange.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{strange:?}");
    }

    /// Given the rows, a random division has the coverage `k/(n + 1)` in the mean, whatever the method: 200
    /// splits are within four standard errors of it.
    #[test]
    fn two_hundred_splits_cover_as_often_as_was_asked() {
        let splitting = Splitting::HoldOut { test: 0.3, repeats: 200 };
        for (name, wanted) in [("iris/iris.svm", 0.9), ("wine/wine.svm", 0.8)] {
            let table = data(name, None);
            let found = coverage(
                BASELINES,
                "kernel-ridge",
                &table,
                splitting,
                Wanted::share(wanted),
                &Choices::plain(),
                |_, _| {},
            )
            .unwrap();
            let (n, m) = (found.calibration_rows as f64, found.rows as f64);
            let error = (wanted * (1.0 - wanted) * (1.0 / n + 1.0 / m) / 200.0).sqrt();
            let (low, high) = (wanted - 4.0 * error, wanted + 1.0 / (n + 1.0) + 4.0 * error);
            assert!((low..=high).contains(&found.covered), "{found:?} {low} {high}");
            let worst = found.worst_class.unwrap();
            assert!(worst.1 <= found.covered && worst.2 > 1000, "{worst:?}");
        }
    }

    #[test]
    fn intervals_are_in_the_units_of_the_target_and_grow_with_the_coverage() {
        let mut text = "x,y\n".to_owned();
        for row in 0..300 {
            let x = f64::from(row % 100) / 30.0;
            let noise = f64::from((row * 37) % 19) - 9.0;
            writeln!(text, "{x},{}", 1000.0 * x.sin() + noise).unwrap();
        }
        let file = RowFile::spooled(text.as_bytes(), "sine", None).unwrap();
        let table = Table::read(&file, &SchemaOptions::default()).unwrap();
        let splitting = Splitting::HoldOut { test: 0.3, repeats: 200 };
        let of = |share| {
            coverage(
                BASELINES,
                "kernel-ridge",
                &table,
                splitting,
                Wanted::share(share),
                &Choices::plain(),
                |_, _| {},
            )
        };
        let (narrow, wide) = (of(0.5).unwrap(), of(0.9).unwrap());
        // The noise is uniform on −9 to 9: half of it lies within 4.5, nine tenths within 8.1.
        assert!((9.0..14.0).contains(&narrow.size), "{narrow:?}");
        assert!((16.0..22.0).contains(&wide.size), "{wide:?}");
        for found in [&narrow, &wide] {
            let n = found.calibration_rows as f64;
            let expected = ((n + 1.0) * found.wanted).ceil() / (n + 1.0);
            let error = (0.25 * (1.0 / n + 1.0 / found.rows as f64) / 200.0).sqrt();
            assert!((found.covered - expected).abs() < 4.0 * error, "{found:?} {expected}");
        }
        let said = of(0.99).unwrap_err().to_string();
        assert!(said.contains("`coverage` is 0.99") && said.contains("calibration rows"), "{said}");
        assert!(of(1.0).is_err() && of(f64::NAN).is_err());
    }

    /// Jackknife+ wastes no rows: it covers as often, and no more widely than a quarter set apart.
    #[test]
    fn rows_left_out_one_by_one_cover_as_often_as_was_asked() {
        let table = data("space_ga/space_ga.svm.xz", None);
        let of = |jackknife, repeats| {
            let splitting = Splitting::HoldOut { test: 0.9, repeats };
            let wanted = Wanted { jackknife, ..Wanted::share(0.9) };
            let settings = mercer_learning::Settings::new().with("lambda", 1e-3);
            let choices = Choices { settings, ..Choices::plain() };
            coverage(BASELINES, "kernel-ridge", &table, splitting, wanted, &choices, |_, _| {})
        };
        let (left, apart) = (of(true, 200).unwrap(), of(false, 20).unwrap());
        assert!((left.covered - 0.9).abs() < 0.01, "{left:?}");
        assert!(left.size < apart.size, "{left:?} {apart:?}");
        assert!(left.calibration_rows > 3 * apart.calibration_rows);
    }

    /// One class in ten, among the others: sets of all rows leave it out more often than is wanted.
    #[test]
    fn each_class_is_covered_as_often_as_was_asked() {
        let mut text = "x,kind\n".to_owned();
        for row in 0..600 {
            let rare = row % 10 == 0;
            let x = f64::from((row * 37) % 101) + if rare { 40.0 } else { 0.0 };
            writeln!(text, "{x},{}", if rare { "rare" } else { "usual" }).unwrap();
        }
        let file = RowFile::spooled(text.as_bytes(), "toys", None).unwrap();
        let table = Table::read(&file, &SchemaOptions::default()).unwrap();
        let splitting = Splitting::HoldOut { test: 0.3, repeats: 200 };
        let of = |share, each_class| {
            let (wanted, choices) =
                (Wanted { each_class, ..Wanted::share(share) }, Choices::plain());
            coverage(BASELINES, "kernel-ridge", &table, splitting, wanted, &choices, |_, _| {})
        };
        let [all, each] = [false, true].map(|each| of(0.8, each).unwrap().worst_class.unwrap());
        assert!(all.0 == "rare" && all.1 < 0.6, "{all:?}");
        // Some ten calibration rows and eighteen test rows of the rare class a split.
        let error = (0.16 * (1.0 / 10.0 + 1.0 / 18.0) / 200.0_f64).sqrt();
        assert!(each.1 > 0.8 - 4.0 * error, "{each:?}");
        // Nineteen rows would be needed for 0.95: a class of fewer is in every set.
        let sure = of(0.95, true).unwrap();
        assert!(sure.covered > 0.95 - 4.0 * error && sure.size > 1.0, "{sure:?}");
        let refused = of(0.999, true).unwrap_err().to_string();
        assert!(refused.contains("calibration rows in the largest class"), "{refused}");
        let of_numbers = (Wanted { each_class: true, ..Wanted::share(0.9) }).check(1);
        assert!(of_numbers.unwrap_err().to_string().contains("without --each-class"));
    }
}
