//! Ridgeless Regression with Random Features.

pub(crate) mod double_descent;
pub(crate) mod figure1a;
pub(crate) mod figure1b;
pub(crate) mod figure1c;
pub(crate) mod figure2a;
pub(crate) mod figure2b;
pub(crate) mod figure2c;
mod sgd_curves;
pub(crate) mod sgd_factors;
pub(crate) mod table1;
pub(crate) mod table2;

/// Least-squares slope of `y` against `x`.
pub(crate) fn exponent(points: &[(f64, f64)]) -> f64 {
    let (x, y) = means(points);
    let (mut xy, mut xx) = (0.0, 0.0);
    for (a, b) in points {
        xy += (a - x) * (b - y);
        xx += (a - x) * (a - x);
    }
    xy / xx
}

/// Standard error of [`exponent`].
pub(crate) fn standard_error(points: &[(f64, f64)]) -> f64 {
    let ((x, y), slope) = (means(points), exponent(points));
    let (mut rest, mut xx) = (0.0, 0.0);
    for (a, b) in points {
        rest += (b - y - slope * (a - x)).powi(2);
        xx += (a - x) * (a - x);
    }
    (rest / (points.len() as f64 - 2.0) / xx).sqrt()
}

fn means(points: &[(f64, f64)]) -> (f64, f64) {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), (a, b)| (x + a, y + b));
    (x / n, y / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_and_their_errors_are_those_of_the_textbook() {
        let line = [(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)];
        assert!((exponent(&line) - 2.0).abs() < 1e-14 && standard_error(&line) < 1e-14);
        // Residuals 1/6, -1/3, 1/6; their squares sum to 1/6, over 1 degree and Σx² = 2.
        let bent = [(0.0, 0.0), (1.0, 0.0), (2.0, 1.0)];
        assert!((exponent(&bent) - 0.5).abs() < 1e-14);
        assert!((standard_error(&bent) - (1.0f64 / 12.0).sqrt()).abs() < 1e-14);
    }
}
