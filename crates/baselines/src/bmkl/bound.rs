use super::update::{Prior, Variational, log_distribution};
use ndarray::{ArrayView1, s};
use statrs::function::gamma::{digamma, ln_gamma};
use std::f64::consts::PI;

impl Variational {
    /// Returns the lower bound on the log evidence that the updates climb.
    pub fn bound(&self) -> f64 {
        let printed = self.printed_bound();
        // The entropy of a cut normal variable around `o` holds the squared distance of its mean.
        printed + 0.5 * (&self.f - &self.o).mapv(|d| d * d).sum()
    }

    /// Returns the bound as the paper and its public code print it. It lacks half the squared distances between the
    /// means of `f` before and after the labels.
    pub fn printed_bound(&self) -> f64 {
        let Prior { noise, margin, .. } = self.prior;
        let (n, l) = self.labels.dim();
        let p = self.be.len() - l;
        let log_2pi = (2.0 * PI).ln();
        let mut bound = 0.0;

        // λ and a.
        for o in 0..l {
            let squares = self.a.column(o).mapv(|a| a * a) + self.a_variance.column(o);
            bound += self.precisions(self.lambda.column(o), squares.view());
            bound += 0.5 * self.a_log_determinant[o] + 0.5 * n as f64 * (1.0 + log_2pi);
        }
        // γ, b, ω and e.
        let squares = &self.be.mapv(|v| v * v) + &self.be_covariance.diag();
        bound += self.precisions(self.gamma.view(), squares.slice(s![..l]));
        bound += self.precisions(self.omega.view(), squares.slice(s![l..]));
        let determinant = log_determinant(&self.be_covariance);
        bound += 0.5 * determinant + 0.5 * (l + p) as f64 * (1.0 + log_2pi);
        // G.
        let g_trace = self.g_covariance.diag().sum();
        let g_determinant = log_determinant(&self.g_covariance);
        let precision = noise.powi(-2);
        for o in 0..l {
            let distances = (&self.g[o] - &self.inner[o]).mapv(|d| d * d).sum();
            let expected = distances + n as f64 * g_trace + self.spread[o];
            bound -= 0.5 * (n * p) as f64 * (log_2pi - precision.ln()) + 0.5 * precision * expected;
            bound += 0.5 * n as f64 * (g_determinant + p as f64 * (1.0 + log_2pi));
        }
        // f.
        let mut second = self.be_covariance.clone(); // E[(b,e)(b,e)ᵀ]
        for k in 0..l + p {
            for m in 0..l + p {
                second[[k, m]] += self.be[k] * self.be[m];
            }
        }
        let ee = second.slice(s![l.., l..]);
        let spread = (&ee * &self.g_covariance).sum();
        for o in 0..l {
            let eb = second.slice(s![l.., o]);
            for i in 0..n {
                let g = self.g[o].column(i);
                let mean = self.be[o] + self.be.slice(s![l..]).dot(&g);
                let own = second[[o, o]] + 2.0 * eb.dot(&g) + g.dot(&ee.dot(&g)) + spread;
                let (f, variance) = (self.f[[i, o]], self.f_variance[[i, o]]);
                let expected = f * f + variance - 2.0 * f * mean + own;
                let u = self.labels[[i, o]] * self.o[[i, o]] - margin;
                bound += 0.5 * variance - 0.5 * expected + log_distribution(u);
            }
        }
        bound
    }

    /// Prior and entropy of some precisions with Gamma factors of these scales, and the normal
    /// density of what they govern, whose expected squares are given.
    fn precisions(&self, scales: ArrayView1<'_, f64>, squares: ArrayView1<'_, f64>) -> f64 {
        let Prior { shape, scale, .. } = self.prior;
        let own = shape + 0.5;
        let log_2pi = (2.0 * PI).ln();
        let mut sum = 0.0;
        for (&own_scale, &square) in scales.iter().zip(squares) {
            let (mean, log) = (own * own_scale, digamma(own) + own_scale.ln());
            sum += (shape - 1.0) * log - mean / scale - ln_gamma(shape) - shape * scale.ln();
            sum += 0.5 * log - 0.5 * mean * square - 0.5 * log_2pi;
            sum += own + own_scale.ln() + ln_gamma(own) + (1.0 - own) * digamma(own);
        }
        sum
    }
}

fn log_determinant(covariance: &ndarray::Array2<f64>) -> f64 {
    // A covariance that was just computed as an inverse: positive definite to rounding.
    mercer_linalg::Cholesky::factor(covariance.clone())
        .map_or(f64::NEG_INFINITY, |factor| factor.log_determinant())
}
