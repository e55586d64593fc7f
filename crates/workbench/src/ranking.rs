//! Methods of anybody's table of scores, ranked over its datasets.

use crate::WorkbenchError;
use mercer_datasets::{DataError, Field, Fields, Row, RowFile};
use mercer_learning::{counted, one_line};
use mercer_render::{Diagram, critical_difference};
use mercer_statistics::{Friedman, Standing, standings, without_rounding};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Names of the columns of a table of scores.
///
/// ```
/// use mercer_workbench::ScoreColumns;
/// assert_eq!(ScoreColumns::default().score, "score");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScoreColumns {
    /// What was learned.
    pub dataset: String,
    /// What learned it.
    pub method: String,
    /// How well, a number.
    pub score: String,
    /// Split, fold or seed. Without a name `repeat`, if there is such a column.
    pub repeat: Option<String>,
}

impl Default for ScoreColumns {
    fn default() -> Self {
        let [dataset, method, score] = ["dataset", "method", "score"].map(str::to_owned);
        Self { dataset, method, score, repeat: None }
    }
}

/// Scores of all methods on all datasets.
///
/// ```
/// use mercer_datasets::RowFile;
/// use mercer_workbench::{ScoreColumns, ScoreTable};
/// let text = "dataset,method,repeat,score\niris,svm,1,0.9\niris,svm,2,0.8\niris,tree,1,0.7\niris,tree,2,0.7\n\
///             wine,svm,1,0.9\nwine,tree,1,1.0\n";
/// let file = RowFile::spooled(text.as_bytes(), "scores", None)?;
/// let table = ScoreTable::read(&file, &ScoreColumns::default())?;
/// assert_eq!((table.methods.as_slice(), table.repeats), (["svm", "tree"].map(str::to_owned).as_slice(), 2));
/// assert!((table.scores[0][0] - 0.85).abs() < 1e-15);
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreTable {
    /// The datasets, in the order of the file.
    pub datasets: Vec<String>,
    /// The methods, in the order of the file.
    pub methods: Vec<String>,
    /// Mean over the repeats, `scores[dataset][method]`.
    pub scores: Vec<Vec<f64>>,
    /// The most repeats of a dataset.
    pub repeats: usize,
}

/// A score, and the line that has it.
type Cell = BTreeMap<String, (f64, usize)>;

impl ScoreTable {
    /// Reads one score a row. The first row names the columns.
    ///
    /// # Errors
    /// [`WorkbenchError::Data`] names the file and what is wrong: a column that is not there, the line of a
    /// score that is no number or stands twice, pairs of dataset and method without a score, repeats that not
    /// all methods have, a single method or dataset.
    pub fn read(file: &RowFile, columns: &ScoreColumns) -> Result<Self, WorkbenchError> {
        let (mut datasets, mut methods) = (Names::default(), Names::default());
        let mut cells: BTreeMap<(usize, usize), Cell> = BTreeMap::new();
        let mut rows = file.rows()?;
        let mut heads = rows.names().map(|names| Places::of(file, names, columns)).transpose()?;
        while let Some((line, row)) = rows.next()? {
            let Row::Fields(fields) = row else {
                let problem = "is svmlight; save the scores as CSV, TSV or Parquet".to_owned();
                return Err(DataError::Format { file: file.name().to_owned(), problem }.into());
            };
            let Some(places) = &heads else {
                let names: Vec<String> =
                    (0..fields.len()).map(|at| fields.raw(at).text()).collect();
                heads = Some(Places::of(file, &names, columns)?);
                continue;
            };
            let wrong =
                |problem: String| DataError::Line { file: file.name().to_owned(), line, problem };
            let score = places.score(fields).map_err(wrong)?;
            let [dataset, method] = [places.dataset, places.method].map(|at| fields.raw(at).text());
            if dataset.is_empty() || method.is_empty() {
                let problem = "the name of the dataset or of the method is missing".to_owned();
                return Err(wrong(problem).into());
            }
            let repeat = places.repeat.map(|at| fields.raw(at).text()).unwrap_or_default();
            let pair = (datasets.number(dataset), methods.number(method));
            let cell = cells.entry(pair).or_default();
            if let Some((_, first)) = cell.insert(repeat.clone(), (score, line)) {
                let (dataset, method) = (&datasets.names[pair.0], &methods.names[pair.1]);
                let (of, remedy) = if places.repeat.is_some() {
                    (format!(" in repeat `{repeat}`"), "leave one out")
                } else {
                    (
                        String::new(),
                        "leave one out, or name the column that numbers the repeats by --repeat",
                    )
                };
                let pair = format!("`{}` on `{}`", one_line(method), one_line(dataset));
                let problem =
                    format!("{pair}{} has a score in line {first}, too; {remedy}", one_line(&of));
                return Err(wrong(problem).into());
            }
        }
        let table = Self::filled(&datasets.names, &methods.names, &cells);
        table.map_err(|problem| DataError::Format { file: file.name().to_owned(), problem }.into())
    }

    /// The means of complete cells, or the missing cells.
    fn filled(
        datasets: &[String],
        methods: &[String],
        cells: &BTreeMap<(usize, usize), Cell>,
    ) -> Result<Self, String> {
        if methods.len() < 2 {
            let found =
                methods.first().map_or_else(String::new, |one| format!(" (`{}`)", one_line(one)));
            return Err(format!(
                "has {}{found}; ranks need at least two",
                counted(methods.len(), "method", "methods")
            ));
        }
        if datasets.len() < 2 {
            return Err("has 1 dataset; tests over datasets need at least two".to_owned());
        }
        let pairs = || (0..datasets.len()).flat_map(|d| (0..methods.len()).map(move |m| (d, m)));
        let missing: Vec<(usize, usize)> =
            pairs().filter(|pair| !cells.contains_key(pair)).collect();
        if let Some(&(dataset, method)) = missing.first() {
            let more = if missing.len() > 1 {
                format!(" and {} more pairs", missing.len() - 1)
            } else {
                String::new()
            };
            let incomplete = missing.iter().map(|pair| pair.0).collect::<BTreeSet<_>>().len();
            return Err(format!(
                "has no score of `{}` on `{}`{more}; add the rows, or leave out {} or the method",
                one_line(&methods[method]),
                one_line(&datasets[dataset]),
                counted(incomplete, "dataset", "datasets")
            ));
        }
        let repeats = repeats(datasets, methods, cells)?;
        let mean = |pair: (usize, usize)| {
            let cell = &cells[&pair];
            // Repeats add up in any order: what differs by rounding is a tie.
            without_rounding(cell.values().map(|(score, _)| score).sum::<f64>() / cell.len() as f64)
        };
        let row = |dataset| (0..methods.len()).map(|method| mean((dataset, method))).collect();
        let scores = (0..datasets.len()).map(row).collect();
        Ok(Self { datasets: datasets.to_vec(), methods: methods.to_vec(), scores, repeats })
    }
}

/// The repeats of the dataset that has most; all methods must have the same ones of a dataset.
fn repeats(
    datasets: &[String],
    methods: &[String],
    cells: &BTreeMap<(usize, usize), Cell>,
) -> Result<usize, String> {
    let mut repeats = 1;
    for dataset in 0..datasets.len() {
        let first = &cells[&(dataset, 0)];
        repeats = repeats.max(first.len());
        for method in 1..methods.len() {
            let other = &cells[&(dataset, method)];
            let apart = first.keys().find(|&repeat| !other.contains_key(repeat));
            let apart = apart.or_else(|| other.keys().find(|&repeat| !first.contains_key(repeat)));
            if let Some(repeat) = apart {
                return Err(format!(
                    "repeat `{}` of `{}` has a score of `{}` or of `{}`, but not of both; keep the repeats \
                     that all methods have",
                    one_line(repeat),
                    one_line(&datasets[dataset]),
                    one_line(&methods[0]),
                    one_line(&methods[method]),
                ));
            }
        }
    }
    Ok(repeats)
}

/// Names in the order in which they were first met.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    numbers: BTreeMap<String, usize>,
}

impl Names {
    fn number(&mut self, name: String) -> usize {
        let next = self.names.len();
        let number = *self.numbers.entry(name.clone()).or_insert(next);
        if number == next {
            self.names.push(name);
        }
        number
    }
}

/// Where the columns stand.
struct Places {
    dataset: usize,
    method: usize,
    score: usize,
    repeat: Option<usize>,
}

impl Places {
    fn of(
        file: &RowFile,
        names: &[String],
        columns: &ScoreColumns,
    ) -> Result<Self, WorkbenchError> {
        let find = |name: &str| names.iter().position(|other| other == name);
        let place = |flag: &str, name: &str| {
            find(name).ok_or_else(|| DataError::Flag {
                file: file.name().to_owned(),
                problem: format!(
                    "has no column `{}` in its first row ({}); name the column by --{flag}",
                    one_line(name),
                    one_line(&names.join(", "))
                ),
            })
        };
        let repeat = match &columns.repeat {
            Some(name) => Some(place("repeat", name)?),
            None => find("repeat"),
        };
        Ok(Self {
            dataset: place("dataset", &columns.dataset)?,
            method: place("method", &columns.method)?,
            score: place("score", &columns.score)?,
            repeat,
        })
    }

    fn score(&self, fields: &dyn Fields) -> Result<f64, String> {
        let field = fields.field(self.score);
        field.number().ok_or_else(|| match field {
            Field::Missing => {
                "the score is missing; leave out the dataset or the method".to_owned()
            }
            other => format!("the score `{}` is not a finite number", one_line(&other.text())),
        })
    }
}

/// A method among the others.
///
/// ```
/// # use mercer_workbench::{ScoreTable, rank};
/// # let name = |number: usize| format!("set {number}");
/// let methods = ["a", "b", "c"].map(str::to_owned).to_vec();
/// let scores = vec![vec![0.9, 0.8, 0.8]; 4];
/// let table = ScoreTable { datasets: (0..4).map(name).collect(), methods, scores, repeats: 1 };
/// let found = rank(&table, false)?;
/// let (first, last) = (&found.methods[0], &found.methods[2]);
/// assert_eq!((first.place.as_str(), first.best_on), ("1", 4));
/// assert_eq!((last.place.as_str(), last.mean_rank), ("2=", 2.5)); // tied with the other one
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RankedMethod {
    /// Its name.
    pub method: String,
    /// Its place by the mean rank, with `=` where another method has the same.
    pub place: String,
    /// Mean rank over the datasets, 1 the best. Equal scores share the mean of their places.
    pub mean_rank: f64,
    /// 95 % percentile interval of the mean rank, by 10,000 resamples of the datasets.
    pub interval: (f64, f64),
    /// Datasets on which no method is better.
    pub best_on: usize,
}

/// Methods ranked over datasets, and the groups that cannot be distinguished.
///
/// ```
/// # use mercer_workbench::{ScoreTable, rank};
/// # let name = |number: usize| format!("set {number}");
/// let methods = ["a", "b", "c"].map(str::to_owned).to_vec();
/// let scores = (0..20).map(|set| vec![0.9, 0.8, if set % 2 == 0 { 0.7 } else { 0.85 }]).collect();
/// let table = ScoreTable { datasets: (0..20).map(name).collect(), methods, scores, repeats: 1 };
/// let found = rank(&table, false)?;
/// assert!(found.apart && found.friedman.p_iman_davenport < 1e-6);
/// assert_eq!(found.groups, [["b", "c"]]); // `a` is told apart from both
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranking {
    /// Number of datasets.
    pub datasets: usize,
    /// The most repeats that a score is the mean of.
    pub repeats: usize,
    /// Whether smaller scores are better.
    pub smaller: bool,
    /// The methods, the best mean rank first.
    pub methods: Vec<RankedMethod>,
    /// Friedman's test that all rank alike, with its ranks in the order of the table.
    pub friedman: Friedman,
    /// Whether Friedman's test finds a difference at 5 %. If not, no two methods are distinguished.
    pub apart: bool,
    /// Nemenyi's critical difference at 5 %.
    pub critical_difference: f64,
    /// The largest groups of methods that the tests do not distinguish. Each has the best first.
    pub groups: Vec<Vec<String>>,
}

/// Ranks the methods of a table by [`standings`]. Repeats only make the mean of a dataset more exact.
///
/// ```
/// # use mercer_workbench::{ScoreTable, rank};
/// let [datasets, methods] = [["iris", "wine"], ["svm", "tree"]].map(|names| names.map(str::to_owned).to_vec());
/// let table = ScoreTable { datasets, methods, scores: vec![vec![0.1, 0.2], vec![3.0, 9.0]], repeats: 1 };
/// let found = rank(&table, true)?; // errors: smaller is better
/// assert_eq!(found.methods[0].method, "svm");
/// assert_eq!(found.groups.len(), 1); // two datasets tell nothing apart
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
///
/// # Errors
/// [`WorkbenchError::Statistics`] for fewer than two methods or datasets, or scores that are not finite.
pub fn rank(table: &ScoreTable, smaller: bool) -> Result<Ranking, WorkbenchError> {
    let found = standings(&table.scores, !smaller)?;
    let name = |at: usize| table.methods[at].clone();
    let method = |one: &Standing| RankedMethod {
        method: name(one.method),
        place: one.place.clone(),
        mean_rank: one.mean_rank,
        interval: one.interval,
        best_on: one.best_on,
    };
    let named = |group: &Vec<usize>| group.iter().map(|&at| name(at)).collect();
    Ok(Ranking {
        datasets: table.scores.len(),
        repeats: table.repeats,
        smaller,
        methods: found.methods.iter().map(method).collect(),
        apart: found.apart,
        critical_difference: found.critical_difference,
        groups: found.groups.iter().map(named).collect(),
        friedman: found.friedman,
    })
}

impl Ranking {
    /// Returns the critical-difference diagram.
    ///
    /// # Errors
    /// [`WorkbenchError::Render`], which no ranking of [`rank`] gives.
    pub fn diagram(&self) -> Result<Diagram, WorkbenchError> {
        let ranks: Vec<(String, f64)> =
            self.methods.iter().map(|one| (one.method.clone(), one.mean_rank)).collect();
        let title = format!("Mean ranks over {} datasets", self.datasets);
        Ok(critical_difference("ranks", title, &ranks, self.critical_difference)?)
    }
}

#[cfg(test)]
mod tests;
