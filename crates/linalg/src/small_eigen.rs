use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, Par};

/// Eigen decompositions `G = V diag(g) Vᵀ` of many small symmetric matrices of one size. It allocates nothing, for
/// `K × K` Gram matrices inside a training step.
///
/// ```
/// let mut eigen = mercer_linalg::SmallEigen::new(2);
/// assert!(eigen.decompose(&[2.0, 1.0, 1.0, 2.0]));
/// assert!((eigen.values()[0] - 1.0).abs() < 1e-15 && (eigen.values()[1] - 3.0).abs() < 1e-15);
/// ```
pub struct SmallEigen {
    size: usize,
    matrix: Mat<f64>,
    vectors: Mat<f64>,
    values: Vec<f64>,
    scratch: MemBuffer,
}

impl SmallEigen {
    /// Makes room for matrices of `size × size`.
    pub fn new(size: usize) -> Self {
        let need = self_adjoint_evd_scratch::<f64>(
            size,
            ComputeEigenvectors::Yes,
            Par::Seq,
            faer::prelude::default(),
        );
        Self {
            size,
            matrix: Mat::zeros(size, size),
            vectors: Mat::zeros(size, size),
            values: vec![0.0; size],
            scratch: MemBuffer::new(need),
        }
    }

    /// Decomposes a symmetric matrix given row by row. It returns `false` if the matrix has NaN or infinities or the
    /// iteration failed, and the results are then meaningless.
    ///
    /// # Panics
    /// If `gram` has not `size²` entries.
    pub fn decompose(&mut self, gram: &[f64]) -> bool {
        let k = self.size;
        assert_eq!(gram.len(), k * k, "entries of a {k} x {k} matrix");
        if !gram.iter().all(|g| g.is_finite()) {
            return false;
        }
        for j in 0..k {
            for i in 0..k {
                self.matrix[(i, j)] = gram[i * k + j];
            }
        }
        let mut values = faer::Col::<f64>::zeros(k);
        let done = self_adjoint_evd(
            self.matrix.as_ref(),
            values.as_mut().as_diagonal_mut(),
            Some(self.vectors.as_mut()),
            Par::Seq,
            MemStack::new(&mut self.scratch),
            faer::prelude::default(),
        );
        for (to, from) in self.values.iter_mut().zip(values.iter()) {
            *to = *from;
        }
        done.is_ok()
    }

    /// Returns the eigenvalues `g`, ascending.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns entry `i` of the eigenvector of eigenvalue `j`.
    pub fn vector(&self, i: usize, j: usize) -> f64 {
        self.vectors[(i, j)]
    }

    /// Writes `V diag(f) Vᵀ`, row by row. It is a function of the matrix, given its values on the spectrum.
    ///
    /// # Panics
    /// If the lengths are not `size` and `size²`.
    pub fn compose(&self, f: &[f64], to: &mut [f64]) {
        let k = self.size;
        assert!(f.len() == k && to.len() == k * k, "lengths of compose");
        to.fill(0.0);
        for (j, &weight) in f.iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
            let vector = self.vectors.col_as_slice(j);
            for (row, &v) in to.chunks_exact_mut(k).zip(vector) {
                let scaled = weight * v;
                for (entry, &other) in row.iter_mut().zip(vector) {
                    *entry += scaled * other;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn composing_with_the_eigenvalues_gives_the_matrix_back() {
        for k in [1usize, 2, 3, 10, 26, 50] {
            let mut gram = vec![0.0; k * k];
            for i in 0..k {
                for j in 0..k {
                    gram[i * k + j] = ((i * j) as f64).cos() + if i == j { 3.0 } else { 0.0 };
                }
            }
            let mut eigen = SmallEigen::new(k);
            assert!(eigen.decompose(&gram));
            let mut back = vec![0.0; k * k];
            eigen.compose(eigen.values(), &mut back);
            for (x, y) in back.iter().zip(&gram) {
                assert_relative_eq!(x, y, epsilon = 1e-12);
            }
            assert!(eigen.values().is_sorted());
            // Entry by entry: A v = g v.
            for j in 0..k {
                for i in 0..k {
                    let image: f64 = (0..k).map(|l| gram[i * k + l] * eigen.vector(l, j)).sum();
                    assert_relative_eq!(
                        image,
                        eigen.values()[j] * eigen.vector(i, j),
                        epsilon = 1e-11
                    );
                }
            }
        }
    }

    #[test]
    fn nan_is_reported() {
        assert!(!SmallEigen::new(1).decompose(&[f64::NAN]));
    }
}
