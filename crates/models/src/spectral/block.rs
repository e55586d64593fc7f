use super::kept::KeptFeatures;
use super::loops::{add_scaled, compensated_sum, scaled, scaled_sum, squares, sum, times};
use super::{Model, Plan, Scalar};
use mercer_linalg::{product, sin_cos};
use mercer_solvers::{Memory, Step};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, s};
use std::ops::Range;

/// Entries of a tile of the frequencies' gradient: 256 KiB in `f32`, a part of a core's L2 cache,
/// so that the optimiser finds the gradient there.
const TILE: usize = 65_536;

/// Rows of fixed inputs whose features are penalised at a time.
const TRACE_ROWS: usize = 128;

/// Some features of a model with all that belongs to them: the part that one thread trains.
///
/// Only the scores, two norms and the Gram matrix of `W` are sums over blocks; everything else
/// stays inside. A model cut into one block is the whole model.
pub(crate) struct Block<F> {
    columns: Range<usize>,
    maps: usize,
    scale: F,
    /// `O | O'` of these features, `d × w` with `w = maps · D_b`.
    frequencies: Array2<F>,
    phases: Array1<F>,
    /// Rows of `W` of these features, `D_b × K`.
    read_out: Array2<F>,
    /// What rounding took from `W` when small multiples of it were subtracted.
    lost: Array2<F>,
    frequency_memory: Memory<F>,
    read_out_memory: Memory<F>,
    /// `φ` of the batch, `b × D_b`.
    phi: Array2<F>,
    /// `−sin` of the batch's angles times the scale, then the gradient of the angles, `b × w`.
    flow: Array2<F>,
    /// Gradient of `φ`, `b × D_b`.
    feature_gradient: Array2<F>,
    read_out_gradient: Array2<F>,
    change: Array2<F>,
    angles: Vec<F>,
    cosines: Vec<F>,
    tile: Vec<F>,
    trace: Option<TraceRoom<F>>,
    kept: Option<KeptFeatures<F>>,
}

/// Room for the gradient of a penalty of fixed inputs.
struct TraceRoom<F> {
    /// `Xᵀ [φ(X) ∘ φ'(X)]`, `d × w`.
    gradient: Array2<F>,
    flow: Array2<F>,
    phi: Array2<F>,
}

impl<F: Scalar> TraceRoom<F> {
    /// Adds the part of some inputs `x`, whose waves are here, each row as often as its weight says; returns
    /// `Σ w_i ‖φ(x_i)‖²`.
    fn weigh(&mut self, weights: &[F], x: ArrayView2<'_, F>, scale: F) -> f64 {
        let (b, size) = (x.nrows(), self.phi.ncols());
        let mut norm = 0.0;
        let rows = self.flow.rows_mut().into_iter().zip(self.phi.rows()).zip(weights);
        for ((mut flow, phi), &weight) in rows {
            let phi = phi.to_slice().expect("contiguous");
            norm += weight.wide() * squares(phi);
            let flow = flow.as_slice_mut().expect("contiguous");
            for flow in flow.chunks_exact_mut(size.max(1)) {
                times(flow, phi);
            }
            for entry in flow.iter_mut() {
                *entry *= weight;
            }
        }
        let flow = self.flow.slice(s![..b, ..]);
        product(-scale, x.t(), flow, F::one(), self.gradient.view_mut());
        norm
    }
}

/// Rows of a tile: a multiple of 6 where possible, which is what the products' kernels take at a
/// time.
fn tile_rows(width: usize, d: usize) -> usize {
    let rows = TILE / width.max(1);
    (if rows > 6 { rows - rows % 6 } else { rows }).clamp(1, d)
}

impl<F: Scalar> Block<F> {
    /// Copies the features in `columns` out of a model.
    pub fn cut(model: &Model<F>, columns: Range<usize>, plan: &Plan) -> Self {
        let (d, k, maps) = (model.inputs(), model.outputs(), model.maps);
        let (big_d, size, batch) = (model.features(), columns.len(), plan.batch);
        let width = maps * size;
        let mut frequencies = Array2::zeros((d, width));
        let mut phases = Array1::zeros(width);
        for map in 0..maps {
            let from = map * big_d + columns.start..map * big_d + columns.end;
            let to = map * size..(map + 1) * size;
            let half = model.frequencies.slice(s![.., from.clone()]);
            frequencies.slice_mut(s![.., to.clone()]).assign(&half);
            phases.slice_mut(s![to]).assign(&model.phases.slice(s![from]));
        }
        let learned = usize::from(plan.learn_frequencies);
        let tile_rows = tile_rows(width, d);
        Self {
            maps,
            scale: F::of(model.scale),
            frequencies,
            phases,
            read_out: model.read_out.slice(s![columns.clone(), ..]).to_owned(),
            lost: Array2::zeros((size, k)),
            frequency_memory: Memory::new(plan.optimiser, learned * d * width),
            read_out_memory: Memory::new(plan.optimiser, size * k),
            phi: Array2::zeros((batch, size)),
            flow: Array2::zeros((batch, width)),
            feature_gradient: Array2::zeros((learned * batch, size)),
            read_out_gradient: Array2::zeros((size, k)),
            change: Array2::zeros((size, k)),
            angles: vec![F::zero(); width],
            cosines: vec![F::zero(); width],
            tile: vec![F::zero(); learned * tile_rows * width],
            trace: plan.trace.as_ref().filter(|_| plan.learn_frequencies).map(|_| TraceRoom {
                gradient: Array2::zeros((d, width)),
                flow: Array2::zeros((TRACE_ROWS, width)),
                phi: Array2::zeros((TRACE_ROWS, size)),
            }),
            kept: None,
            columns,
        }
    }

    /// Copies these features back into the model.
    pub fn paste(&self, model: &mut Model<F>) {
        let (big_d, size) = (model.features(), self.columns.len());
        for map in 0..self.maps {
            let to = map * big_d + self.columns.start..map * big_d + self.columns.end;
            let half = self.frequencies.slice(s![.., map * size..(map + 1) * size]);
            model.frequencies.slice_mut(s![.., to]).assign(&half);
        }
        self.paste_read_out(model);
    }

    /// Copies the output weights of these features back into the model.
    pub fn paste_read_out(&self, model: &mut Model<F>) {
        model.read_out.slice_mut(s![self.columns.clone(), ..]).assign(&self.read_out);
    }

    /// Takes the output weights of these features from the model.
    pub fn take_read_out(&mut self, model: &Model<F>) {
        self.read_out.assign(&model.read_out.slice(s![self.columns.clone(), ..]));
        self.lost.fill(F::zero());
    }

    /// Keeps the features of so many training rows from now on. For frequencies that never move.
    pub fn keep_features(&mut self, rows: usize) {
        self.kept = Some(KeptFeatures::new(rows, self.columns.len()));
    }

    /// Computes `φ` and its slopes for a batch `x` (`b × d`), the training rows `rows`. It writes this block's part of
    /// `Wᵀ φ` to `scores` (`b × K`).
    pub fn forward(&mut self, x: ArrayView2<'_, F>, rows: &[usize], scores: ArrayViewMut2<'_, F>) {
        let b = x.nrows();
        let (mut flow, mut phi) = (std::mem::take(&mut self.flow), std::mem::take(&mut self.phi));
        // A single row is summed in another order: it is computed as it always was.
        match self.kept.take() {
            Some(mut kept) if b > 1 => {
                let missing = kept.missing(rows);
                if !missing.is_empty() {
                    self.waves(x.select(Axis(0), &missing).view(), &mut flow, &mut phi);
                    kept.keep(rows, &missing, phi.slice(s![..missing.len(), ..]));
                }
                kept.recall(rows, phi.slice_mut(s![..b, ..]));
                self.kept = Some(kept);
            }
            kept => {
                self.waves(x, &mut flow, &mut phi);
                self.kept = kept;
            }
        }
        (self.flow, self.phi) = (flow, phi);
        let phi = self.phi.slice(s![..b, ..]);
        product(F::one(), phi, self.read_out.view(), F::zero(), scores);
    }

    /// The sines of the angles of the rows of `x` to `flow`, and `φ` to `phi`.
    fn waves(&mut self, x: ArrayView2<'_, F>, flow: &mut Array2<F>, phi: &mut Array2<F>) {
        let (b, size) = (x.nrows(), self.columns.len());
        let mut flow = flow.slice_mut(s![..b, ..]);
        product(F::one(), x, self.frequencies.view(), F::zero(), flow.view_mut());
        let phases = self.phases.as_slice().expect("contiguous");
        for (mut row, mut phi) in flow.rows_mut().into_iter().zip(phi.rows_mut()) {
            let row = row.as_slice_mut().expect("contiguous");
            let phi = phi.as_slice_mut().expect("contiguous");
            sum(row, phases, &mut self.angles);
            sin_cos(&self.angles, row, &mut self.cosines);
            let (first, second) = self.cosines.split_at(size);
            if self.maps == 1 {
                scaled(self.scale, first, phi);
            } else {
                scaled_sum(self.scale, first, second, phi);
            }
        }
    }

    /// Computes `Xᵀ [φ(X) ∘ φ'(X)]` of fixed inputs, block by block. It is for [`Block::update_frequencies`]; returns
    /// `‖φ(X)‖_F²` over these features. A row with a weight counts as so many.
    ///
    /// # Panics
    /// If the plan that this block was cut for has no trace.
    pub fn trace(&mut self, inputs: ArrayView2<'_, F>, weights: Option<&[F]>) -> f64 {
        let mut room = self.trace.take().expect("a plan with a trace");
        let size = self.columns.len();
        room.gradient.fill(F::zero());
        let mut norm = 0.0;
        let mut weights = weights.map(|weights| weights.chunks(TRACE_ROWS));
        for x in inputs.axis_chunks_iter(Axis(0), TRACE_ROWS) {
            self.waves(x, &mut room.flow, &mut room.phi);
            if let Some(weights) = weights.as_mut().and_then(Iterator::next) {
                norm += room.weigh(weights, x, self.scale);
                continue;
            }
            let b = x.nrows();
            let rows = room.flow.rows_mut().into_iter().zip(room.phi.rows()).take(b);
            for (mut flow, phi) in rows {
                let phi = phi.to_slice().expect("contiguous");
                norm += squares(phi);
                let flow = flow.as_slice_mut().expect("contiguous");
                for flow in flow.chunks_exact_mut(size.max(1)) {
                    times(flow, phi);
                }
            }
            let flow = room.flow.slice(s![..b, ..]);
            product(-self.scale, x.t(), flow, F::one(), room.gradient.view_mut());
        }
        self.trace = Some(room);
        norm
    }

    /// Returns `‖φ(batch)‖_F²` over these features.
    pub fn feature_norm_squared(&self, b: usize) -> f64 {
        let rows = self.phi.rows().into_iter().take(b);
        rows.map(|phi| squares(phi.to_slice().expect("contiguous"))).sum()
    }

    /// Returns `Σ w_i ‖φ(x_i)‖²` over these features, of a batch with these weights.
    pub fn weighted_feature_norm_squared(&self, weights: &[F]) -> f64 {
        let rows = self.phi.rows().into_iter().zip(weights);
        rows.map(|(phi, w)| w.wide() * squares(phi.to_slice().expect("contiguous"))).sum()
    }

    /// Returns `‖W‖_F²` over these features.
    pub fn read_out_norm_squared(&self) -> f64 {
        self.read_out.as_slice().expect("contiguous").chunks(4096).map(squares).sum()
    }

    /// This block's part of `Wᵀ W`, `K × K`.
    pub fn gram(&self, to: ArrayViewMut2<'_, F>) {
        product(F::one(), self.read_out.t(), self.read_out.view(), F::zero(), to);
    }

    /// Computes the gradient of the angles from the gradient of the scores, `g` (`b × K`). It adds a penalty whose
    /// gradient is `penalty · φ`, of each row times its weight, if it has one. To be called once after
    /// [`Block::forward`].
    pub fn backward(&mut self, g: ArrayView2<'_, F>, penalty: f64, weights: Option<&[F]>) {
        let (b, size) = (g.nrows(), self.columns.len());
        let mut gradient = self.feature_gradient.slice_mut(s![..b, ..]);
        // Both terms carry the factor of d cos / d angle, so that the slopes are plain sines.
        let slope = -self.scale;
        let keep = if penalty == 0.0 { F::zero() } else { F::one() };
        if penalty != 0.0 {
            let factor = slope * F::of(penalty);
            for (mut to, phi) in gradient.rows_mut().into_iter().zip(self.phi.rows()) {
                let to = to.as_slice_mut().expect("contiguous");
                scaled(factor, phi.to_slice().expect("contiguous"), to);
            }
            if let Some(weights) = weights {
                for (mut to, &weight) in gradient.rows_mut().into_iter().zip(weights) {
                    to.mapv_inplace(|entry| entry * weight);
                }
            }
        }
        product(slope, g, self.read_out.t(), keep, gradient.view_mut());
        for (mut flow, gradient) in self.flow.rows_mut().into_iter().zip(gradient.rows()) {
            let gradient = gradient.to_slice().expect("contiguous");
            for flow in flow.as_slice_mut().expect("contiguous").chunks_exact_mut(size.max(1)) {
                times(flow, gradient);
            }
        }
    }

    /// Returns `∂/∂W` of the loss and of a penalty whose gradient is `penalty · W`.
    pub fn read_out_gradient(&mut self, g: ArrayView2<'_, F>, penalty: f64) -> &Array2<F> {
        let phi = self.phi.slice(s![..g.nrows(), ..]);
        product(F::one(), phi.t(), g, F::zero(), self.read_out_gradient.view_mut());
        if penalty != 0.0 {
            self.read_out_gradient.scaled_add(F::of(penalty), &self.read_out);
        }
        &self.read_out_gradient
    }

    /// Moves the output weights against the gradient computed last.
    pub fn update_read_out(&mut self, step: &Step<F>) {
        step.update(
            self.read_out.as_slice_mut().expect("contiguous"),
            self.read_out_gradient.as_slice().expect("contiguous"),
            self.read_out_memory.all(),
        );
    }

    /// Rows `rows` of `∂/∂(O | O')`, after [`Block::backward`], to `to` (`rows × w`).
    pub fn frequency_gradient(
        &self,
        x: ArrayView2<'_, F>,
        rows: Range<usize>,
        to: ArrayViewMut2<'_, F>,
    ) {
        let flow = self.flow.slice(s![..x.nrows(), ..]);
        product(F::one(), x.slice(s![.., rows]).t(), flow, F::zero(), to);
    }

    /// Moves the frequencies, tile by tile: gradient and optimiser while the tile is in cache.
    ///
    /// With `trace`, that many times what [`Block::trace`] has left is a part of the gradient.
    pub fn update_frequencies(&mut self, x: ArrayView2<'_, F>, step: &Step<F>, trace: Option<f64>) {
        let (d, width) = self.frequencies.dim();
        if width == 0 {
            return;
        }
        let mut tile = std::mem::take(&mut self.tile);
        let tile_rows = tile.len() / width;
        for first in (0..d).step_by(tile_rows) {
            let rows = first..(first + tile_rows).min(d);
            let gradient = &mut tile[..rows.len() * width];
            let view = ArrayViewMut2::from_shape((rows.len(), width), &mut *gradient)
                .expect("a tile has rows x width entries");
            self.frequency_gradient(x, rows.clone(), view);
            let entries = rows.start * width..rows.end * width;
            if let (Some(factor), Some(room)) = (trace, &self.trace) {
                let penalty = room.gradient.as_slice().expect("contiguous");
                add_scaled(F::of(factor), &penalty[entries.clone()], gradient);
            }
            let parameters = self.frequencies.as_slice_mut().expect("contiguous");
            let memory = self.frequency_memory.tile(entries.clone());
            step.update(&mut parameters[entries], gradient, memory);
        }
        self.tile = tile;
    }

    /// `W ← W − W N`, `N` (`K × K`) being what a threshold removes.
    ///
    /// The share removed in one step may be smaller than a unit in the last place of `W`, so the
    /// subtraction is compensated: what rounding loses is added in the next time.
    pub fn remove(&mut self, removed: ArrayView2<'_, F>) {
        product(-F::one(), self.read_out.view(), removed, F::zero(), self.change.view_mut());
        compensated_sum(
            self.read_out.as_slice_mut().expect("contiguous"),
            self.lost.as_slice_mut().expect("contiguous"),
            self.change.as_slice().expect("contiguous"),
        );
    }
}
