use crate::{Comparison, WorkbenchError};
use mercer_learning::Metric;
use mercer_statistics::{
    Friedman, friedman, holm, nemenyi_critical_difference, wilcoxon_signed_rank,
};
use serde::Serialize;

/// One method over several files.
///
/// ```
/// # use mercer_baselines::BASELINES;
/// # use mercer_datasets::{RowFile, SchemaOptions};
/// # use mercer_workbench::{Choices, Splitting, Table, compare};
/// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// # let table = Table::read(&file, &SchemaOptions::default())?;
/// # let names = ["kernel-ridge".to_owned(), "majority".to_owned()];
/// # let splitting = Splitting::Folds { folds: 2, repeats: 2 };
/// let found = compare(BASELINES, &names, &table, splitting, &Choices::plain(), |_, _, _| {})?;
/// // The same comparison of two files of the same rows.
/// let found = mercer_workbench::across(vec![found.clone(), found])?;
/// let ridge = &found.methods[0];
/// assert_eq!((ridge.method.as_str(), ridge.rank), ("kernel-ridge", Some(1.0)));
/// assert_eq!(ridge.means[0], ridge.means[1]);
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodAcross {
    /// The method.
    pub method: String,
    /// Its mean of each file's metric, in file order; `None` where it failed.
    pub means: Vec<Option<f64>>,
    /// Mean rank over the files, 1 the best; `None` if it failed on one.
    pub rank: Option<f64>,
}

/// The method of the best mean rank against another, one number a file.
///
/// ```
/// # use mercer_baselines::BASELINES;
/// # use mercer_datasets::{RowFile, SchemaOptions};
/// # use mercer_workbench::{Choices, Splitting, Table, compare};
/// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// # let table = Table::read(&file, &SchemaOptions::default())?;
/// # let names = ["kernel-ridge".to_owned(), "majority".to_owned()];
/// # let splitting = Splitting::Folds { folds: 2, repeats: 2 };
/// let found = compare(BASELINES, &names, &table, splitting, &Choices::plain(), |_, _, _| {})?;
/// let found = mercer_workbench::across(vec![found.clone(), found])?;
/// let pair = &found.pairs[0];
/// assert_eq!((pair.best.as_str(), pair.other.as_str()), ("kernel-ridge", "majority"));
/// assert_eq!((pair.wins, pair.p), ([2, 0, 0], 0.5)); // of 2² patterns of signs two are as clear
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairAcross {
    /// The method of the best mean rank.
    pub best: String,
    /// The other.
    pub other: String,
    /// Files on which the best is better, equal, worse.
    pub wins: [usize; 3],
    /// Two-sided p of Wilcoxon's signed-rank test.
    pub p: f64,
    /// The same after Holm, over all pairs.
    pub p_holm: f64,
}

/// The same methods on several tables.
///
/// ```
/// # use mercer_baselines::BASELINES;
/// # use mercer_datasets::{RowFile, SchemaOptions};
/// # use mercer_workbench::{Choices, Splitting, Table, compare};
/// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// # let table = Table::read(&file, &SchemaOptions::default())?;
/// # let names = ["kernel-ridge".to_owned(), "majority".to_owned()];
/// # let splitting = Splitting::Folds { folds: 2, repeats: 2 };
/// let found = compare(BASELINES, &names, &table, splitting, &Choices::plain(), |_, _, _| {})?;
/// let across = mercer_workbench::across(vec![found.clone(), found.clone()])?;
/// assert_eq!((across.files.len(), across.failed()), (2, 0));
/// assert!(across.critical_difference.is_some_and(|difference| difference > 1.0)); // two files say little
/// assert!(mercer_workbench::across(vec![found]).is_err()); // and one says nothing
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Across {
    /// The comparison on each.
    pub files: Vec<Comparison>,
    /// The methods in the order asked for.
    pub methods: Vec<MethodAcross>,
    /// Friedman's test that all methods that were scored on every file rank alike.
    pub friedman: Option<Friedman>,
    /// Differences of mean ranks below this are not significant (Nemenyi, 5 %).
    pub critical_difference: Option<f64>,
    /// The best method against each other one. They have differences of accuracies, or of the logarithms of errors,
    /// whose units differ from file to file. None where the files are of both tasks.
    pub pairs: Vec<PairAcross>,
}

impl Across {
    /// Returns why the methods are not tested against each other, where they are not.
    pub fn untested(&self) -> Option<&'static str> {
        let ranked = self.methods.iter().filter(|method| method.rank.is_some()).count();
        if !self.pairs.is_empty() {
            None
        } else if ranked < 2 {
            Some("fewer than two methods have scores on every file")
        } else {
            Some("accuracies and errors have no common scale: compare files of one task together")
        }
    }

    /// Counts methods that failed on a file, once a file.
    pub fn failed(&self) -> usize {
        self.files.iter().map(Comparison::failed).sum()
    }
}

/// Combines comparisons of the same methods on several tables (Demšar 2006). It takes one number a file and method, and
/// returns:
/// - mean ranks,
/// - Friedman's test,
/// - Nemenyi's critical difference,
/// - Wilcoxon's signed-rank tests of the best against the others, with Holm.
///
/// Files are independent where splits of one file are not, so no correction for shared rows is
/// needed here.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Choices, Splitting, Table, across, compare};
/// let names = ["kernel-ridge".to_owned(), "majority".to_owned()];
/// let splitting = Splitting::Folds { folds: 2, repeats: 1 };
/// let mut files = Vec::new();
/// for name in ["toys", "others"] {
///     let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
///     let file = RowFile::spooled(text.as_bytes(), name, None)?;
///     let table = Table::read(&file, &SchemaOptions::default())?;
///     files.push(compare(BASELINES, &names, &table, splitting, &Choices::plain(), |_, _, _| {})?);
/// }
/// let found = across(files)?;
/// assert_eq!((found.methods[0].rank, found.pairs[0].wins), (Some(1.0), [2, 0, 0]));
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
///
/// # Errors
/// [`WorkbenchError::Argument`] for fewer than two comparisons, or of other methods.
pub fn across(files: Vec<Comparison>) -> Result<Across, WorkbenchError> {
    let refused = |value: String, must: &str| {
        Err(WorkbenchError::Argument { name: "data", value, must: must.to_owned() })
    };
    let names = |file: &Comparison| -> Vec<String> {
        file.methods.iter().map(|method| method.method.clone()).collect()
    };
    if files.len() < 2 {
        return refused(format!("{} files", files.len()), "at least two files");
    }
    if let Some(other) = files.iter().find(|file| names(file) != names(&files[0])) {
        return refused(other.data.clone(), "compared by the same methods");
    }
    let mut methods: Vec<MethodAcross> = files[0]
        .methods
        .iter()
        .enumerate()
        .map(|(at, first)| MethodAcross {
            method: first.method.clone(),
            means: files.iter().map(|file| mean(file, at)).collect(),
            rank: None,
        })
        .collect();
    let ranked: Vec<usize> =
        (0..methods.len()).filter(|&at| methods[at].means.iter().all(Option::is_some)).collect();
    let mut found = Across {
        files,
        methods: Vec::new(),
        friedman: None,
        critical_difference: None,
        pairs: Vec::new(),
    };
    if ranked.len() >= 2 {
        let worths: Vec<Vec<f64>> = (0..found.files.len())
            .map(|file| {
                let metric = found.files[file].metric;
                let mean = |at: &usize| methods[*at].means[file].unwrap_or_default();
                ranked.iter().map(|at| worth(metric, mean(at))).collect()
            })
            .collect();
        let test = friedman(&worths, true)?;
        for (&at, &rank) in ranked.iter().zip(&test.average_ranks) {
            methods[at].rank = Some(rank);
        }
        found.critical_difference =
            Some(nemenyi_critical_difference(ranked.len(), worths.len(), 0.05)?);
        if found.files.iter().all(|file| file.metric == found.files[0].metric) {
            found.pairs = pairs(&methods, &ranked, &test.average_ranks, &worths)?;
        }
        found.friedman = Some(test);
    }
    found.methods = methods;
    Ok(found)
}

/// A method's mean of the file's metric.
fn mean(file: &Comparison, method: usize) -> Option<f64> {
    let evaluation = file.methods[method].evaluation.as_ref().ok()?;
    Some(evaluation.estimates.get(file.metric.name())?.mean)
}

/// A score that is better when larger, and comparable from file to file.
fn worth(metric: Metric, mean: f64) -> f64 {
    if metric.larger_is_better() {
        mean
    } else {
        // An error of exactly 0 is the best there is, and its logarithm no number.
        -mean.max(f64::MIN_POSITIVE).ln()
    }
}

fn pairs(
    methods: &[MethodAcross],
    ranked: &[usize],
    ranks: &[f64],
    worths: &[Vec<f64>],
) -> Result<Vec<PairAcross>, WorkbenchError> {
    // Of equal ranks the one named first.
    let best = (0..ranks.len()).fold(0, |best, at| if ranks[at] < ranks[best] { at } else { best });
    let mut pairs = Vec::new();
    for (place, &at) in ranked.iter().enumerate().filter(|&(place, _)| place != best) {
        let differences: Vec<f64> = worths.iter().map(|row| row[best] - row[place]).collect();
        let count = |sign: fn(f64) -> bool| differences.iter().filter(|&&d| sign(d)).count();
        pairs.push(PairAcross {
            best: methods[ranked[best]].method.clone(),
            other: methods[at].method.clone(),
            wins: [count(|d| d > 0.0), count(|d| d == 0.0), count(|d| d < 0.0)],
            p: wilcoxon_signed_rank(&differences)?.p_two_sided,
            p_holm: 1.0,
        });
    }
    let adjusted = holm(&pairs.iter().map(|pair| pair.p).collect::<Vec<_>>())?;
    for (pair, p) in pairs.iter_mut().zip(adjusted) {
        pair.p_holm = p;
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Choices, Splitting, Table, compare};
    use mercer_baselines::BASELINES;
    use mercer_datasets::{RowFile, SchemaOptions};
    use std::fmt::Write as _;

    /// A file of two classes that part at 0, or of a line; so many rows.
    fn file(rows: usize, classes: bool) -> Table {
        let mut text = "x,noise,y\n".to_owned();
        for row in 0..rows {
            let x = row as f64 - rows as f64 / 2.0 + 0.5;
            let y = if classes {
                (if x > 0.0 { "up" } else { "down" }).to_owned()
            } else {
                format!("{}.5", 3 * row)
            };
            writeln!(text, "{x},{},{y}", (row * 7) % 5).unwrap();
        }
        let file = RowFile::spooled(text.as_bytes(), &format!("{rows} rows"), None).unwrap();
        Table::read(&file, &SchemaOptions::default()).unwrap()
    }

    fn compared(rows: usize, classes: bool) -> Comparison {
        let names: &[&str] =
            if classes { &["majority", "kernel-ridge"] } else { &["mean", "kernel-ridge"] };
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let splitting = Splitting::Folds { folds: 3, repeats: 1 };
        let table = file(rows, classes);
        compare(BASELINES, &names, &table, splitting, &Choices::plain(), |_, _, _| {}).unwrap()
    }

    #[test]
    fn one_number_a_file_is_ranked_and_tested() {
        let files = [20, 24, 30, 36, 40, 44].map(|rows| compared(rows, true));
        let found = across(files.to_vec()).unwrap();
        let ranks: Vec<f64> = found.methods.iter().filter_map(|method| method.rank).collect();
        assert_eq!(ranks, [2.0, 1.0]);
        // The same order on each of six files: 2/2^6, and a rank test that is degenerate.
        let [pair] = found.pairs.as_slice() else { panic!("{:?}", found.pairs) };
        assert_eq!((pair.best.as_str(), pair.wins), ("kernel-ridge", [6, 0, 0]));
        assert!((pair.p - 2.0 / 64.0).abs() < 1e-15);
        assert!(found.friedman.unwrap().degenerate);
        // Nemenyi's q for two methods, 1.960 √(2·3/(6·6)).
        assert!((found.critical_difference.unwrap() - 1.959964 / 6f64.sqrt()).abs() < 1e-4);
    }

    #[test]
    fn errors_are_compared_by_their_ratio_and_other_methods_are_refused() {
        let real = across(vec![compared(20, false), compared(30, false)]).unwrap();
        assert_eq!(real.methods[1].rank, Some(1.0));
        assert_eq!(real.pairs[0].wins, [2, 0, 0]);
        let mixed = across(vec![compared(20, true), compared(20, false)]).unwrap_err();
        assert!(mixed.to_string().contains("the same methods"), "{mixed}");
        let one = across(vec![compared(20, true)]).unwrap_err().to_string();
        assert!(one.contains("at least two files"), "{one}");
    }
}
