use crate::intervals::NamedInterval;
use crate::table::{Table, task_of};
use crate::windows::said_in_parts;
use crate::{Header, Scores, WorkbenchError};
use mercer_datasets::{DataError, Kind, Truths};
use mercer_learning::{FittedKernel, LearningError, Predictions, Predictor};
use mercer_linalg::{Matrix, MatrixView, symmetric_eigen};
use ndarray::{Array1, Array2, Axis};
use std::collections::BTreeMap;

/// A fitted model with all that it takes to predict rows of a file.
///
/// ```
/// # use mercer_baselines::BASELINES;
/// # use mercer_datasets::{RowFile, SchemaOptions};
/// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// use mercer_workbench::{Choices, Model, Table, fit};
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let model = fit(BASELINES, "kernel-ridge", &table, &Choices::plain())?;
/// let folder = tempfile::tempdir().expect("a folder");
/// let path = folder.path().join("toys.safetensors");
/// model.save(&path, false)?;
/// let kept = Model::load(&path, BASELINES)?;
/// assert_eq!(kept.header, model.header);
/// assert!(kept.score(&table, 1)?.1["accuracy"] > 0.9);
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
pub struct Model {
    /// All but the arrays.
    pub header: Header,
    pub(crate) predictor: Box<dyn Predictor>,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("header", &self.header).finish_non_exhaustive()
    }
}

/// Rows whose kernel matrix is formed for a bound: 800 MB.
const MOST_GRAM_ROWS: usize = 10_000;

/// Predictions for some rows, in the words and units of the target.
///
/// ```
/// # use mercer_baselines::BASELINES;
/// # use mercer_datasets::{RowFile, SchemaOptions};
/// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// # let table = Table::read(&file, &SchemaOptions::default())?;
/// use mercer_workbench::{Choices, Predicted, Table, fit};
/// let model = fit(BASELINES, "majority", &table, &Choices::plain())?;
/// match model.predict(ndarray::array![[3.0]], "a row", &[1], 1)? {
///     Predicted::Classes(classes) => {
///         let label = &model.header.schema.target.labels[classes[0] as usize];
///         assert_eq!(label, "a"); // of equal shares the first
///     }
///     Predicted::Values(values) => println!("{}", values[0]),
/// }
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Predicted {
    /// A class index of each row, see the labels of [`mercer_datasets::TargetColumnKept`].
    Classes(Vec<u32>),
    /// A value of each row.
    Values(Vec<f64>),
}

impl Model {
    /// Predicts rows that the schema has read (`n × d`, NaN where missing). It uses `threads` threads; the result does
    /// not depend on their number.
    ///
    /// ```
    /// use mercer_baselines::BASELINES;
    /// use mercer_datasets::{RowFile, SchemaOptions};
    /// use mercer_workbench::{Choices, Predicted, Table, fit};
    /// let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// let table = Table::read(&file, &SchemaOptions::default())?;
    /// let model = fit(BASELINES, "kernel-ridge", &table, &Choices::plain())?;
    /// let rows = ndarray::array![[-2.5], [2.5]];
    /// assert_eq!(model.predict(rows, "two rows", &[1, 2], 1)?, Predicted::Classes(vec![0, 1]));
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// A missing number that is not to be filled, named by its line.
    pub fn predict(
        &self,
        raw: impl Into<Matrix>,
        file: &str,
        lines: &[usize],
        threads: usize,
    ) -> Result<Predicted, WorkbenchError> {
        let inputs = self.all_prepared(raw.into(), file, lines)?;
        let parts = side_by_side(inputs.view(), threads, |part| self.predictor.predict_rows(part));
        let (mut classes, mut values) = (Vec::new(), Vec::new());
        for part in parts {
            match part? {
                Predictions::Classes(labels) => classes.extend(labels),
                Predictions::Real(scaled) => values.extend(scaled),
            }
        }
        Ok(match self.header.schema.target.kind {
            Kind::Classification => Predicted::Classes(classes),
            Kind::Regression => {
                let standard = self.header.preparation.target();
                let back = |value: f64| standard.map_or(value, |standard| standard.invert(value));
                Predicted::Values(values.into_iter().map(back).collect())
            }
        })
    }

    /// Class probabilities of rows, `n × K`.
    ///
    /// ```
    /// # use mercer_baselines::BASELINES;
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// use mercer_workbench::{Choices, Table, fit};
    /// let model = fit(BASELINES, "majority", &table, &Choices::plain())?;
    /// let shares = model.probabilities(ndarray::array![[3.0]], "a row", &[1], 1)?;
    /// assert_eq!(shares, ndarray::array![[0.5, 0.5]]); // those of the training rows
    /// let ridge = fit(BASELINES, "kernel-ridge", &table, &Choices::plain())?;
    /// assert!(ridge.probabilities(ndarray::array![[3.0]], "a row", &[1], 1).is_err());
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Model::predict`]; [`WorkbenchError::NoProbabilities`].
    pub fn probabilities(
        &self,
        raw: impl Into<Matrix>,
        file: &str,
        lines: &[usize],
        threads: usize,
    ) -> Result<Array2<f64>, WorkbenchError> {
        let inputs = self.all_prepared(raw.into(), file, lines)?;
        let of = |part: MatrixView<'_>| self.predictor.probabilities_rows(part);
        let parts = side_by_side(inputs.view(), threads, of);
        let mut all = Array2::zeros((0, task_of(&self.header.schema).outputs()));
        for part in parts {
            let part = part.ok_or_else(|| WorkbenchError::NoProbabilities {
                method: self.header.method.clone(),
                why: match self.header.schema.target.kind {
                    Kind::Regression => " (it was fitted to numbers, not to classes)",
                    Kind::Classification => "",
                },
            })?;
            append(&mut all, &part)?;
        }
        Ok(all)
    }

    /// Returns the decision scores of rows. Classification has one score a class (`n × K`), and the largest is
    /// predicted. Regression has the value in standard units (`n × 1`).
    ///
    /// ```
    /// # use mercer_baselines::BASELINES;
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// use mercer_workbench::{Choices, Table, fit};
    /// let model = fit(BASELINES, "kernel-ridge", &table, &Choices::plain())?;
    /// let scores = model.decision(ndarray::array![[3.0]], "a row", &[1], 1)?;
    /// assert!(scores[[0, 1]] > scores[[0, 0]]); // `b`
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Model::predict`].
    pub fn decision(
        &self,
        raw: impl Into<Matrix>,
        file: &str,
        lines: &[usize],
        threads: usize,
    ) -> Result<Array2<f64>, WorkbenchError> {
        let inputs = self.all_prepared(raw.into(), file, lines)?;
        let of = |part: MatrixView<'_>| self.predictor.decision_rows(part);
        let mut all = Array2::zeros((0, task_of(&self.header.schema).outputs()));
        for part in side_by_side(inputs.view(), threads, of) {
            append(&mut all, &part?)?;
        }
        Ok(all)
    }

    /// Returns the fitted kernel between rows (`n × n`), where the method has one.
    ///
    /// ```
    /// # use mercer_baselines::BASELINES;
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// use mercer_workbench::{Choices, Table, fit};
    /// let model = fit(BASELINES, "kernel-ridge", &table, &Choices::plain())?;
    /// let gram = model.gram(ndarray::array![[3.0], [4.0]], "two rows", &[1, 2])?.expect("a kernel");
    /// assert!(gram[[0, 0]] == 1.0 && gram[[0, 1]] < 1.0); // Gaussian
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Model::predict`].
    pub fn gram(
        &self,
        raw: Array2<f64>,
        file: &str,
        lines: &[usize],
    ) -> Result<Option<Array2<f64>>, WorkbenchError> {
        let inputs = self.prepared(raw, file, lines)?;
        Ok(self.predictor.fitted_kernel().map(|kernel| kernel.gram(inputs.view())))
    }

    /// Returns the learned features `φ(x)` of some rows, `n × D`. Their products are the fitted kernel; none where it
    /// has no such features.
    ///
    /// ```
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// use mercer_learning::Settings;
    /// use mercer_models::rftk::METHODS;
    /// use mercer_workbench::{Choices, Table, fit};
    /// let choices = Choices { settings: Settings::new().with("features", 20), ..Choices::plain() };
    /// let model = fit(METHODS, "rf-ridge", &table, &choices)?;
    /// let rows = ndarray::array![[3.0], [4.0]];
    /// let (phi, gram) = (model.features(rows.clone(), "two rows", &[1, 2])?, model.gram(rows, "two rows", &[1, 2])?);
    /// let (phi, gram) = (phi.expect("random features"), gram.expect("and their kernel"));
    /// assert_eq!(phi.dim(), (2, 20));
    /// assert!((phi.dot(&phi.t()) - gram).iter().all(|apart| apart.abs() < 1e-12));
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Model::predict`].
    pub fn features(
        &self,
        raw: Array2<f64>,
        file: &str,
        lines: &[usize],
    ) -> Result<Option<Array2<f64>>, WorkbenchError> {
        let inputs = self.prepared(raw, file, lines)?;
        Ok(self.predictor.fitted_kernel().and_then(|kernel| kernel.features(inputs.view())))
    }

    /// Returns the frequencies `Ω` and `Ω'` of a spectral kernel (`d × D` each). They are in units of the scaled
    /// inputs; the two are one where it is stationary.
    ///
    /// ```
    /// # use mercer_baselines::BASELINES;
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// use mercer_workbench::{Choices, Table, fit};
    /// let model = fit(BASELINES, "kernel-ridge", &table, &Choices::plain())?;
    /// assert_eq!(model.frequencies(), None); // no random features
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    pub fn frequencies(&self) -> Option<[Array2<f64>; 2]> {
        self.predictor.fitted_kernel().and_then(FittedKernel::frequencies)
    }

    /// Returns the standard deviations of new observations, in the unit of the target. `None` where the method has
    /// none.
    ///
    /// ```
    /// use mercer_baselines::BASELINES;
    /// use mercer_datasets::{RowFile, SchemaOptions};
    /// use mercer_workbench::{Choices, Table, fit};
    /// let text: String = (0..40).map(|i| format!("{},{}\n", f64::from(i) / 9.0, (f64::from(i) / 9.0).sin())).collect();
    /// let file = RowFile::spooled(format!("x,y\n{text}").as_bytes(), "sine", None)?;
    /// let table = Table::read(&file, &SchemaOptions::default())?;
    /// let model = fit(BASELINES, "gaussian-process", &table, &Choices::plain())?;
    /// let rows = ndarray::array![[2.0], [30.0]];
    /// let deviations = model.deviations(rows, "two rows", &[1, 2])?.expect("a process has them");
    /// assert!(deviations[0] < 0.01 && deviations[1] > 0.3); // far from all rows it knows little
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Model::predict`].
    pub fn deviations(
        &self,
        raw: Array2<f64>,
        file: &str,
        lines: &[usize],
    ) -> Result<Option<Array1<f64>>, WorkbenchError> {
        let inputs = self.prepared(raw, file, lines)?;
        let unit = self.header.preparation.target().map_or(1.0, |standard| standard.deviation);
        Ok(self.predictor.deviations(inputs.view()).map(|deviations| deviations * unit))
    }

    /// Returns the entropies of rows by their scores, in nats. The scores must be estimates of probabilities
    /// themselves; none where the method's are not: [`Predictor::embedded_entropy`].
    ///
    /// ```
    /// # use mercer_baselines::BASELINES;
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// use mercer_workbench::{Choices, Table, fit};
    /// let model = fit(BASELINES, "majority", &table, &Choices::plain())?;
    /// assert_eq!(model.embedded_entropy(ndarray::array![[3.0]], "a row", &[1])?, None);
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Model::predict`].
    pub fn embedded_entropy(
        &self,
        raw: Array2<f64>,
        file: &str,
        lines: &[usize],
    ) -> Result<Option<Array1<f64>>, WorkbenchError> {
        let inputs = self.prepared(raw, file, lines)?;
        Ok(self.predictor.embedded_entropy(inputs.view()))
    }

    /// Returns the inputs of bounds for a model and some rows, by name:
    /// - `rows`;
    /// - `trace`, the sum of `k(x, x)`, where the method has such a kernel;
    /// - for classes `loss`, the mean of `−ln min(max(f_y, ε), 1)` of the scores `f`, which are decision probabilities
    ///   in embeddings.
    ///
    /// ```
    /// # use mercer_baselines::BASELINES;
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// use mercer_workbench::{Choices, Table, fit};
    /// let model = fit(BASELINES, "kernel-ridge", &table, &Choices::plain())?;
    /// let found = model.measured(&table, 0.1)?;
    /// assert_eq!((found["rows"], found["trace"]), (8.0, 8.0)); // a Gaussian kernel has k(x, x) = 1
    /// assert!((0.0..=-0.1f64.ln()).contains(&found["loss"])); // clipped at −ln 0.1
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Model::predict`].
    pub fn measured(
        &self,
        table: &Table,
        epsilon: f64,
    ) -> Result<BTreeMap<&'static str, f64>, WorkbenchError> {
        let inputs = self.prepared(table.raw.dense(0..table.rows()), &table.name, &table.lines)?;
        let rows = inputs.nrows() as f64;
        let mut found = BTreeMap::from([("rows", rows)]);
        let kernel = self.predictor.fitted_kernel();
        if let Some(mean) = kernel.and_then(|kernel| kernel.mean_diagonal(inputs.view())) {
            found.insert("trace", mean * rows);
        }
        if let Truths::Classes(labels) = &table.truths {
            let scores = self.predictor.decision(inputs.view());
            let losses = scores.rows().into_iter().zip(labels);
            let loss: f64 =
                losses.map(|(f, &label)| -f[label as usize].max(epsilon).min(1.0).ln()).sum();
            found.insert("loss", loss / rows);
        }
        Ok(found)
    }

    /// Returns an input of bounds that is a list or a table, by name. It is for a model and some rows:
    ///
    /// | name | shape | of |
    /// |---|---|---|
    /// | `points` | `n × d` | the rows, prepared as for the fit |
    /// | `gram` | `n × n` | the fitted kernel between them |
    /// | `eigenvalues` | `n × 1` | the same |
    /// | `feature-norms-squared` | `n × 1` | its diagonal |
    /// | `frequencies`, `frequencies-prime` | `d × D` | the spectral kernel |
    ///
    /// None where the method has no such thing.
    ///
    /// ```
    /// # use mercer_baselines::BASELINES;
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// use mercer_workbench::{Choices, Table, fit};
    /// let model = fit(BASELINES, "kernel-ridge", &table, &Choices::plain())?;
    /// let gram = model.measured_array(&table, "gram")?.expect("it has a kernel");
    /// let eigenvalues = model.measured_array(&table, "eigenvalues")?.expect("so it has these");
    /// assert_eq!((gram.dim(), eigenvalues.dim()), ((8, 8), (8, 1)));
    /// assert!((gram.diag().sum() - eigenvalues.sum()).abs() < 1e-12);
    /// assert_eq!(model.measured_array(&table, "frequencies")?, None); // no spectral kernel
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Model::predict`]; [`WorkbenchError::Argument`] for more than 10,000 rows, where a matrix of
    /// their size is asked for; a failed factorisation.
    pub fn measured_array(
        &self,
        table: &Table,
        name: &str,
    ) -> Result<Option<Array2<f64>>, WorkbenchError> {
        let inputs = || self.prepared(table.raw.dense(0..table.rows()), &table.name, &table.lines);
        if name == "points" {
            return inputs().map(Some).map_err(Into::into);
        }
        let Some(kernel) = self.predictor.fitted_kernel() else { return Ok(None) };
        let gram = || {
            let rows = table.rows();
            if rows > MOST_GRAM_ROWS {
                let value = format!("a file of {rows} rows");
                let must =
                    format!("at most {MOST_GRAM_ROWS} rows: the matrix of their kernel is formed");
                return Err(WorkbenchError::Argument { name: "data", value, must });
            }
            Ok(kernel.gram(inputs()?.view()))
        };
        let column = |entries: Array1<f64>| entries.insert_axis(Axis(1));
        Ok(match name {
            "gram" => Some(gram()?),
            "feature-norms-squared" => Some(column(gram()?.diag().to_owned())),
            "eigenvalues" => {
                let found = symmetric_eigen(gram()?.view()).map_err(|error| {
                    let operation = "the eigenvalues of the kernel matrix";
                    LearningError::Numerical { operation, reason: error.to_string() }
                })?;
                // Rounding leaves the smallest of them below 0 by a hair.
                Some(column(found.values.mapv(|value| value.max(0.0))))
            }
            "frequencies" | "frequencies-prime" => kernel.frequencies().map(|both| {
                let [first, second] = both;
                if name == "frequencies" { first } else { second }
            }),
            _ => None,
        })
    }

    /// Scores the model on a table that was read with its schema.
    ///
    /// ```
    /// # use mercer_baselines::BASELINES;
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// use mercer_workbench::{Choices, Predicted, Table, fit};
    /// let model = fit(BASELINES, "majority", &table, &Choices::plain())?;
    /// let (predicted, scores) = model.score(&table, 1)?;
    /// assert_eq!(predicted, Predicted::Classes(vec![0; 8])); // of equal shares the first
    /// assert_eq!(scores["accuracy"], 0.5);
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Model::predict`].
    pub fn score(
        &self,
        table: &Table,
        threads: usize,
    ) -> Result<(Predicted, Scores), WorkbenchError> {
        let said = self.said(table, threads)?;
        let scores = said.scores();
        let predicted = match said.predictions {
            Predictions::Classes(labels) => Predicted::Classes(labels),
            Predictions::Real(values) => Predicted::Values(values),
        };
        Ok((predicted, scores))
    }

    /// What it says of a table that was read with its schema.
    pub(crate) fn said(
        &self,
        table: &Table,
        threads: usize,
    ) -> Result<NamedInterval, WorkbenchError> {
        if let Some(unheld) = &table.unheld {
            return said_in_parts(unheld, table, None, |part| self.said(part, threads));
        }
        let Table { name, raw, lines, truths, .. } = table;
        let predictions = match self.predict(raw.clone(), name, lines, threads)? {
            Predicted::Classes(labels) => Predictions::Classes(labels),
            Predicted::Values(values) => Predictions::Real(values),
        };
        let asked = matches!(truths, Truths::Classes(_));
        let shares = asked.then(|| self.probabilities(raw.clone(), name, lines, threads));
        let shares = match shares.transpose() {
            Err(WorkbenchError::NoProbabilities { .. }) => None,
            other => other?,
        };
        let scored = asked && shares.is_none();
        let decisions = scored.then(|| self.decision(raw.clone(), name, lines, threads));
        Ok(NamedInterval {
            predictions,
            shares,
            decisions: decisions.transpose()?,
            truths: truths.clone(),
            classes: table.task().outputs(),
            alone: Vec::new(),
        })
    }

    pub(crate) fn all_prepared(
        &self,
        raw: Matrix,
        file: &str,
        lines: &[usize],
    ) -> Result<Matrix, DataError> {
        self.header.preparation.applied(raw, &self.header.schema, file, lines)
    }

    fn prepared(
        &self,
        mut raw: Array2<f64>,
        file: &str,
        lines: &[usize],
    ) -> Result<Array2<f64>, DataError> {
        self.header.preparation.apply(&mut raw, &self.header.schema, file, lines)?;
        Ok(raw)
    }
}

pub(crate) fn append(all: &mut Array2<f64>, part: &Array2<f64>) -> Result<(), LearningError> {
    all.append(Axis(0), part.view()).map_err(|error| LearningError::Numerical {
        operation: "collecting the scores of rows",
        reason: error.to_string(),
    })
}

/// What `work` says of consecutive parts of the rows, one a thread, in order.
fn side_by_side<T: Send>(
    inputs: MatrixView<'_>,
    threads: usize,
    work: impl Fn(MatrixView<'_>) -> T + Sync,
) -> Vec<T> {
    let n = inputs.dim().0;
    // A part of a few rows is not worth a thread.
    let parts = threads.clamp(1, n.div_ceil(256).max(1));
    if parts == 1 {
        return vec![work(inputs)];
    }
    let rows = n.div_ceil(parts);
    std::thread::scope(|scope| {
        let work = &work;
        let part = |start: usize| start..(start + rows).min(n);
        let running: Vec<_> = (0..n)
            .step_by(rows)
            .map(|start| scope.spawn(move || inputs.within(part(start), work)))
            .collect();
        running
            .into_iter()
            .map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}
