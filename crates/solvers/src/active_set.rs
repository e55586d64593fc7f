use ndarray::{Array1, ArrayView1};

/// Variables that are not negative: those that are free, and all that are held at 0.
pub(crate) struct ActiveSet {
    pub x: Array1<f64>,
    pub free: Vec<usize>,
}

impl ActiveSet {
    /// With all at 0.
    pub(crate) fn new(n: usize) -> Self {
        Self { x: Array1::zeros(n), free: Vec::new() }
    }

    /// Takes what is wanted of the free variables.
    pub(crate) fn take(&mut self, wanted: ArrayView1<'_, f64>) {
        self.x.fill(0.0);
        self.free.iter().zip(wanted).for_each(|(&j, &value)| self.x[j] = value);
    }

    /// Goes as far towards it as no variable becomes negative.
    pub(crate) fn approach(&mut self, wanted: ArrayView1<'_, f64>) {
        let mut step = 1.0f64;
        for (&j, &value) in self.free.iter().zip(wanted) {
            if value <= 0.0 {
                step = step.min(self.x[j] / (self.x[j] - value));
            }
        }
        for (&j, &value) in self.free.iter().zip(wanted) {
            self.x[j] += step * (value - self.x[j]);
        }
    }

    /// Holds at 0 what came there but for rounding, and one that `leaves`.
    pub(crate) fn hold(&mut self, leaves: Option<usize>) {
        let Self { x, free } = self;
        let nothing = 1e-15 * x.iter().fold(0.0, |a: f64, &b| a.max(b));
        free.retain(|&j| x[j] > nothing && Some(j) != leaves);
        for j in 0..x.len() {
            if !free.contains(&j) {
                x[j] = 0.0;
            }
        }
    }
}
