use mercer_linalg::{Real, dispatched};

/// Points that share one entry of a pass's output: the best of a block is looked for in it only.
pub(super) const BLOCK: usize = 4 * LANES;
/// Independent running extremes: as many as the widest vectors hold in two registers.
const LANES: usize = 16;

dispatched! {
    /// `gradient += a row_i + b row_j`, and for each block the least slope upwards and the largest
    /// slope downwards.
    pub(super) fn update<F: Real>(
        steps: [F; 2],
        rows: [&[F]; 2],
        gradient: &mut [F],
        upward: &[F],
        downward: &[F],
        least: &mut [F],
        largest: &mut [F],
    ) {
        let [a, b] = steps;
        let (gradients, last_g) = gradient.as_chunks_mut::<LANES>();
        let (rows_i, last_i) = rows[0].as_chunks::<LANES>();
        let (rows_j, last_j) = rows[1].as_chunks::<LANES>();
        let (ups, last_up) = upward.as_chunks::<LANES>();
        let (downs, last_down) = downward.as_chunks::<LANES>();
        let empty = ([F::infinity(); LANES], [F::neg_infinity(); LANES]);
        let (mut low, mut high) = empty;
        let chunks = gradients.iter_mut().zip(rows_i.iter().zip(rows_j)).zip(ups.iter().zip(downs));
        for (c, ((g, (ri, rj)), (up, down))) in chunks.enumerate() {
            for l in 0..LANES {
                g[l] += a * ri[l] + b * rj[l];
                let (rise, fall) = (g[l] + up[l], g[l] + down[l]);
                low[l] = if rise < low[l] { rise } else { low[l] };
                high[l] = if fall > high[l] { fall } else { high[l] };
            }
            if c % 4 == 3 {
                least[c / 4] = smallest(&low);
                largest[c / 4] = greatest(&high);
                (low, high) = empty;
            }
        }
        let tail = last_g.iter_mut().zip(last_i.iter().zip(last_j)).zip(last_up.iter().zip(last_down));
        for (l, ((g, (&ri, &rj)), (&up, &down))) in tail.enumerate() {
            *g += a * ri + b * rj;
            let (rise, fall) = (*g + up, *g + down);
            low[l] = if rise < low[l] { rise } else { low[l] };
            high[l] = if fall > high[l] { fall } else { high[l] };
        }
        if !upward.len().is_multiple_of(BLOCK) {
            least[upward.len() / BLOCK] = smallest(&low);
            largest[upward.len() / BLOCK] = greatest(&high);
        }
    }
}

dispatched! {
    /// For each block the largest second-order gain of a fall, paired with a point that rises along
    /// the slope `rise`, has the kernel `row` and the diagonal entry `own`.
    pub(super) fn gains<F: Real>(
        rise: F,
        own: F,
        row: &[F],
        gradient: &[F],
        downward: &[F],
        diagonal: &[F],
        best: &mut [F],
    ) {
        let (rows, last_row) = row.as_chunks::<LANES>();
        let (gradients, last_g) = gradient.as_chunks::<LANES>();
        let (downs, last_down) = downward.as_chunks::<LANES>();
        let (diagonals, last_diagonal) = diagonal.as_chunks::<LANES>();
        let mut high = [F::zero(); LANES];
        let chunks = gradients.iter().zip(downs).zip(rows.iter().zip(diagonals));
        for (c, ((g, down), (k, diagonal))) in chunks.enumerate() {
            for l in 0..LANES {
                let gain = gain(g[l] + down[l] - rise, own + diagonal[l] - (k[l] + k[l]));
                high[l] = if gain > high[l] { gain } else { high[l] };
            }
            if c % 4 == 3 {
                best[c / 4] = greatest(&high);
                high = [F::zero(); LANES];
            }
        }
        let tail = last_g.iter().zip(last_down).zip(last_row.iter().zip(last_diagonal));
        for (l, ((&g, &down), (&k, &diagonal))) in tail.enumerate() {
            let gain = gain(g + down - rise, own + diagonal - (k + k));
            high[l] = if gain > high[l] { gain } else { high[l] };
        }
        if !row.len().is_multiple_of(BLOCK) {
            best[row.len() / BLOCK] = greatest(&high);
        }
    }
}

#[inline]
fn smallest<F: Real>(values: &[F; LANES]) -> F {
    values.iter().fold(F::infinity(), |m, &x| if x < m { x } else { m })
}

#[inline]
fn greatest<F: Real>(values: &[F; LANES]) -> F {
    values.iter().fold(F::neg_infinity(), |m, &x| if x > m { x } else { m })
}

/// `b²/a`, twice what a step along a slope `b` with curvature `a` gains; nothing uphill.
#[inline]
pub(super) fn gain<F: Real>(slope: F, curvature: F) -> F {
    let square = slope * slope / flattened(curvature);
    if slope > F::zero() { square } else { F::zero() }
}

/// The curvature, or a small one where there is none: the step then goes to the edge of the box.
#[inline]
pub(super) fn flattened<F: Real>(curvature: F) -> F {
    if curvature > F::zero() { curvature } else { F::of(1e-12) }
}

/// The first place whose value is not below the largest of the blocks.
pub(super) fn place_of_largest(
    blocks: &[f64],
    largest: f64,
    length: usize,
    value: impl Fn(usize) -> f64,
) -> Option<usize> {
    let block = blocks.iter().position(|&found| found >= largest)?;
    (block * BLOCK..((block + 1) * BLOCK).min(length)).find(|&t| value(t) >= largest)
}
