//! A kernel that Mercer does not have: the Laplace kernel exp(−|x − z|₁ / w). With kernel ridge regression it is a
//! method that is fitted, compared and kept like any other.

use mercer::learning::{
    Allowed, Convergence, Cost, Fitted, Fitting, Learner, LearningError, Method, Outcome,
    Parameters, Predictor, Sample, Settings, Space, State, Task, Tasks, declared, parameters,
    same_as_study,
};
use mercer::linalg::Cholesky;
use mercer::{Choices, Splitting, methods, table, workbench};
use ndarray::{Array2, ArrayView2, Ix2};
use std::error::Error;

parameters! {
    /// Settings of the method.
    pub struct LaplaceParams {
        /// Width `w` of the kernel.
        pub width: f64 = 1.0, Allowed::POSITIVE;
        /// The ridge.
        pub lambda: f64 = 1e-3, Allowed::POSITIVE;
    }
}

/// `K_ij = exp(−|x_i − z_j|₁ / w)`.
fn gram(x: ArrayView2<'_, f64>, z: ArrayView2<'_, f64>, width: f64) -> Array2<f64> {
    Array2::from_shape_fn((x.nrows(), z.nrows()), |(i, j)| {
        (-(&x.row(i) - &z.row(j)).mapv(f64::abs).sum() / width).exp()
    })
}

struct Laplace(LaplaceParams);

/// `f(x) = Σ_i α_i k(x, x_i)`.
struct Expansion {
    width: f64,
    points: Array2<f64>,
    alpha: Array2<f64>,
}

impl Learner for Laplace {
    fn fit(&self, sample: &Sample, _: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        let (x, n) = (sample.inputs().to_owned(), sample.rows());
        let mut system = gram(x.view(), x.view(), self.0.width);
        system.diag_mut().mapv_inplace(|k| k + n as f64 * self.0.lambda);
        let targets = sample.values().map(|y| y.to_vec()).unwrap_or_default();
        let right = Array2::from_shape_vec((n, 1), targets).unwrap_or_default();
        let failed = |error: mercer::linalg::LinalgError| LearningError::Numerical {
            operation: "solving for α",
            reason: error.to_string(),
        };
        let alpha = Cholesky::factor(system).and_then(|l| l.solve(&right)).map_err(failed)?;
        let predictor = Expansion { width: self.0.width, points: x, alpha };
        Ok(Outcome { predictor, convergence: Convergence::Exact, facts: [].into() }.boxed())
    }
}

impl Predictor for Expansion {
    fn task(&self) -> Task {
        Task::Regression
    }
    fn features(&self) -> usize {
        self.points.ncols()
    }
    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        gram(inputs, self.points.view(), self.width).dot(&self.alpha)
    }
    fn state(&self) -> State {
        State::new()
            .with("width", self.width)
            .with("shape", self.points.dim())
            .with_array("points", &self.points)
            .with_array("alpha", &self.alpha)
    }
}

const LAPLACE: Method = Method {
    name: "laplace-ridge",
    title: "Laplace kernel ridge",
    summary: "ridge regression with the kernel exp(−|x − z|₁ / w)",
    formula: "f(x) = Σ α_i k(x, x_i), (K + λ n I) α = y, k(x, z) = exp(−|x − z|₁ / w)",
    when: "targets with kinks",
    cites: "folklore",
    revision: 1,
    tasks: Tasks::Regression,
    cost: Cost { fit: "n^3", predict: "n d", memory: "n^2" },
    resource: None,
    warnings: &[],
    settings: &declared::<LaplaceParams>,
    defaults: &|_| Settings::new(),
    user_defaults: &same_as_study,
    space: &|_| Space::default(),
    build: &|settings| {
        let params: LaplaceParams = settings.read("laplace-ridge")?;
        params.in_range()?;
        Ok(Box::new(Laplace(params)))
    },
    restore: &|state| {
        let shape: (usize, usize) = state.value("shape")?;
        Ok(Box::new(Expansion {
            width: state.value("width")?,
            points: state.array_of::<f64, Ix2>("points", shape)?,
            alpha: state.array_of::<f64, Ix2>("alpha", (shape.0, 1))?,
        }))
    },
};

fn main() -> Result<(), Box<dyn Error>> {
    // |x| has a kink, which the Laplace kernel fits better than the Gaussian.
    let row = |i: i32| format!("{},{}\n", f64::from(i) / 10.0, f64::from(i).abs() / 10.0);
    let text = std::iter::once("x,y\n".to_owned()).chain((-30..=30).map(row));
    let table = table(text.collect::<Vec<_>>().concat().as_bytes())?;
    let all: Vec<Method> = methods().into_iter().chain([LAPLACE]).collect();
    let folds = Splitting::Folds { folds: 5, repeats: 1 };
    for method in ["laplace-ridge", "kernel-ridge", "mean"] {
        let found = workbench::evaluate(&all, method, &table, folds, &Choices::plain(), |_, _| {})?;
        println!("{method}: RMSE {:.4}", found.estimates["rmse"].mean);
    }
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}

#[test]
fn it_obeys_the_laws_of_every_method() {
    mercer::learning::conformance::Conformance::of(&LAPLACE).check().unwrap();
    let apart = gram(Array2::zeros((1, 2)).view(), Array2::ones((1, 2)).view(), 2.0);
    assert!((apart[[0, 0]] - (-1f64).exp()).abs() < 1e-15);
}
