use mercer_linalg::{Real, dispatched};
use ndarray::{Array1, ArrayView1, ArrayView2};

/// A solution of `min Σ_i (1 − Σ_j α_j c_ji)₊² + λ ‖α‖₁`, and how it was reached.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Descent {
    pub(super) weights: Array1<f64>,
    pub(super) objective: f64,
    /// Objective minus the value of a dual point: at most so far from the optimum.
    pub(super) gap: f64,
    pub(super) passes: usize,
    pub(super) converged: bool,
}

/// Passes over the chosen weights before all are looked at again.
const INNER: usize = 50;

impl Descent {
    /// Coordinate descent over the weights that are not 0 or pull hard enough, until the duality
    /// gap is at most `tolerance` times the objective. `columns` holds `c_j` in row `j`.
    pub(super) fn run(
        columns: ArrayView2<'_, f64>,
        lambda: f64,
        start: Option<ArrayView1<'_, f64>>,
        tolerance: f64,
        passes: usize,
    ) -> Self {
        let columns = columns.as_standard_layout();
        let columns = columns.view();
        let mut weights = start.map_or_else(|| Array1::zeros(columns.nrows()), |s| s.to_owned());
        let mut margins: Vec<f64> = weights.dot(&columns).iter().map(|f| 1.0 - f).collect();
        let mut done = 0;
        loop {
            let hinge: Array1<f64> = margins.iter().map(|m| m.max(0.0)).collect();
            let pull = 2.0 * columns.dot(&hinge);
            let objective = hinge.dot(&hinge) + lambda * norm(&weights);
            // The dual point 2 (1 − K_y α)₊, scaled into the constraint.
            let steepest = pull.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
            let scale = if steepest > lambda { lambda / steepest } else { 1.0 };
            let dual = scale * 2.0 * hinge.sum() - scale * scale * hinge.dot(&hinge);
            let gap = objective - dual;
            if gap <= tolerance * objective || done >= passes {
                let converged = gap <= tolerance * objective;
                return Self { weights, objective, gap, passes: done, converged };
            }
            let chosen: Vec<usize> = (0..weights.len())
                .filter(|&j| weights[j] != 0.0 || pull[j].abs() > lambda)
                .collect();
            let mut largest_first = 0.0;
            for pass in 0..INNER.min(passes - done) {
                let mut largest = 0.0f64;
                for &j in &chosen {
                    let column = columns.row(j);
                    let column = column.as_slice().expect("made standard above");
                    let gained = minimise(column, &mut margins, &mut weights[j], lambda);
                    largest = largest.max(gained);
                }
                done += 1;
                if pass == 0 {
                    largest_first = largest;
                }
                if largest <= 1e-3 * largest_first || largest <= f64::EPSILON * objective {
                    break;
                }
            }
            // Sums of many small changes drift.
            if done % 1000 < INNER {
                margins = weights.dot(&columns).iter().map(|f| 1.0 - f).collect();
            }
        }
    }
}

fn norm(weights: &Array1<f64>) -> f64 {
    weights.iter().map(|weight| weight.abs()).sum()
}

/// Independent sums: as many as two of the widest vectors hold.
const LANES: usize = 16;

dispatched! {
    /// Of the margins `m − step c`: `Σ c m₊`, `Σ c²` over those above 0, and `Σ m₊²`.
    fn sums<F: Real>(column: &[F], margins: &[F], step: F, out: &mut [F; 3]) {
        let (mut slope, mut curvature, mut loss) =
            ([F::zero(); LANES], [F::zero(); LANES], [F::zero(); LANES]);
        let (columns, last_c) = column.as_chunks::<LANES>();
        let (blocks, last_m) = margins.as_chunks::<LANES>();
        for (c, m) in columns.iter().zip(blocks) {
            for l in 0..LANES {
                let left = m[l] - step * c[l];
                let (m, active) =
                    if left > F::zero() { (left, c[l]) } else { (F::zero(), F::zero()) };
                slope[l] += c[l] * m;
                curvature[l] += active * active;
                loss[l] += m * m;
            }
        }
        for (l, (&c, &m)) in last_c.iter().zip(last_m).enumerate() {
            let left = m - step * c;
            if left > F::zero() {
                slope[l] += c * left;
                curvature[l] += c * c;
                loss[l] += left * left;
            }
        }
        let total = |lanes: [F; LANES]| lanes.iter().fold(F::zero(), |sum, &x| sum + x);
        *out = [total(slope), total(curvature), total(loss)];
    }
}

dispatched! {
    /// `m −= step c`.
    fn lower<F: Real>(column: &[F], step: F, margins: &mut [F]) {
        for (m, &c) in margins.iter_mut().zip(column) {
            *m -= step * c;
        }
    }
}

/// Lowers the objective along one weight by a Newton step, shortened until it does; returns by how
/// much.
fn minimise(column: &[f64], margins: &mut [f64], weight: &mut f64, lambda: f64) -> f64 {
    let mut found = [0.0; 3];
    sums(column, margins, 0.0, &mut found);
    let [slope, curvature, loss] = found;
    let (slope, curvature) = (-2.0 * slope, 2.0 * curvature);
    // Where every margin is met the penalty alone pulls, to 0.
    let target = if curvature > 0.0 {
        let free = *weight - slope / curvature;
        free.signum() * (free.abs() - lambda / curvature).max(0.0)
    } else {
        0.0
    };
    let mut step = target - *weight;
    if step == 0.0 {
        return 0.0;
    }
    let before = loss + lambda * weight.abs();
    for _ in 0..40 {
        let moved = *weight + step;
        sums(column, margins, step, &mut found);
        let after = found[2] + lambda * moved.abs();
        if after <= before {
            *weight = moved;
            lower(column, step, margins);
            return before - after;
        }
        step *= 0.5;
    }
    0.0
}
