//! The tests of `mercer.stats`. Each gives its numbers in the order that `mercer/stats.py` names.

use mercer_statistics as statistics;
use mercer_statistics::StatisticsError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

fn refused(error: StatisticsError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

type Test = (f64, f64, f64, f64, f64, f64, bool);

fn parts(test: &statistics::TTest) -> Test {
    let statistics::TTest {
        mean_difference, standard_error, degrees_of_freedom, statistic, ..
    } = *test;
    let (two_sided, greater) = (test.p_two_sided, test.p_greater);
    (
        mean_difference,
        standard_error,
        degrees_of_freedom,
        statistic,
        two_sided,
        greater,
        test.degenerate,
    )
}

#[pyfunction]
fn paired_t(differences: Vec<f64>) -> PyResult<Test> {
    statistics::paired_t(&differences).map(|test| parts(&test)).map_err(refused)
}

#[pyfunction]
fn corrected_t(differences: Vec<f64>, test_over_train: f64) -> PyResult<Test> {
    statistics::corrected_t(&differences, test_over_train).map(|test| parts(&test)).map_err(refused)
}

#[pyfunction]
fn bayesian_correlated_t(
    differences: Vec<f64>,
    correlation: f64,
    rope: f64,
) -> PyResult<(f64, f64, f64)> {
    let found =
        statistics::bayesian_correlated_t(&differences, correlation, rope).map_err(refused)?;
    Ok((found.left, found.rope, found.right))
}

#[pyfunction]
fn hierarchical_t(gains: Vec<(f64, f64)>, rope: f64) -> PyResult<(f64, f64, f64)> {
    let found = statistics::gain_over_data_sets(&gains, rope).map_err(refused)?;
    Ok((found.worse, found.equal, found.better))
}

#[pyfunction]
fn holm(p_values: Vec<f64>) -> PyResult<Vec<f64>> {
    statistics::holm(&p_values).map_err(refused)
}

#[pyfunction]
fn stouffer(p_greater: Vec<f64>) -> PyResult<(f64, f64)> {
    let found = statistics::stouffer(&p_greater).map_err(refused)?;
    Ok((found.z, found.p_two_sided))
}

#[pyfunction]
fn wilcoxon(differences: Vec<f64>) -> PyResult<(f64, f64, usize, f64, f64, bool)> {
    let found = statistics::wilcoxon_signed_rank(&differences).map_err(refused)?;
    let (positive, negative) = (found.positive_ranks, found.negative_ranks);
    Ok((positive, negative, found.zeros, found.p_two_sided, found.p_greater, found.exact))
}

type Ranks = (Vec<f64>, f64, f64, f64, f64, f64, Vec<Vec<usize>>);

#[pyfunction]
fn friedman(scores: Vec<Vec<f64>>, larger_is_better: bool, alpha: f64) -> PyResult<Ranks> {
    let found = statistics::friedman(&scores, larger_is_better).map_err(refused)?;
    let ranks = found.average_ranks;
    let apart = statistics::nemenyi_critical_difference(ranks.len(), found.datasets, alpha);
    let apart = apart.map_err(refused)?;
    let groups = statistics::indistinguishable_groups(&ranks, apart);
    let (chi_squared, p_chi_squared) = (found.chi_squared, found.p_chi_squared);
    Ok((
        ranks,
        chi_squared,
        p_chi_squared,
        found.iman_davenport,
        found.p_iman_davenport,
        apart,
        groups,
    ))
}

#[pyfunction]
fn bootstrap_interval(
    py: Python<'_>,
    values: Vec<f64>,
    resamples: usize,
    level: f64,
    seed: u64,
) -> PyResult<Option<(f64, f64)>> {
    let mean = |drawn: &[f64]| {
        let sum: f64 = values.iter().zip(drawn).map(|(value, times)| value * times).sum();
        vec![sum / drawn.iter().sum::<f64>()]
    };
    let found = py.detach(|| statistics::row_bootstrap(values.len(), mean, resamples, level, seed));
    Ok(found.map_err(refused)?.first().copied().flatten())
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(paired_t, module)?)?;
    module.add_function(wrap_pyfunction!(corrected_t, module)?)?;
    module.add_function(wrap_pyfunction!(bayesian_correlated_t, module)?)?;
    module.add_function(wrap_pyfunction!(hierarchical_t, module)?)?;
    module.add_function(wrap_pyfunction!(holm, module)?)?;
    module.add_function(wrap_pyfunction!(stouffer, module)?)?;
    module.add_function(wrap_pyfunction!(wilcoxon, module)?)?;
    module.add_function(wrap_pyfunction!(friedman, module)?)?;
    module.add_function(wrap_pyfunction!(bootstrap_interval, module)?)
}
