//! Learners that others proposed, one file each, as [`Method`]s in [`BASELINES`].
//!
//! | symbol | code | meaning | unit |
//! |---|---|---|---|
//! | `L`, `p` | `bandwidth`, `exponent` | `k(x, z) = exp(−(‖x − z‖_M/L)^p)` | input units |
//! | `s` | `std` | `k(x, z) = exp(−s² ‖x − z‖² / 2)`, and the others of [`KernelName`] | 1 over input units |
//! | `λ` | `lambda` | `K + λ n I` | |
//! | `C` | `cost` | weight of the hinge losses, summed over rows | |
//! | `ε` | `epsilon` | half-width of the tube without loss | deviations of the target |
//!
//! Where a method's matrix would not fit, a seeded subsample of `cap` training rows is used, and
//! the facts of the fit say so (`rows-used`). It does not know the papers' own methods.

mod constant;
#[cfg(test)]
mod example;
mod kernel_choice;
mod kernel_machine;
mod left_out;
mod network_classifier;
mod sections;
mod subsample;
#[cfg(test)]
mod toy;

pub use bmkl::{Bmkl, BmklParams, Posterior, Prior, Start, Variational};
pub use dank::{Dank, DankMachine, DankParams, DankProblem, Extension};
pub use distributed_bmkl::{DistributedBmkl, DistributedBmklParams, Merge};
pub use falkon::{Falkon, FalkonParams};
pub use gaussian_process::{GaussianProcess, GaussianProcessParams, Likelihood};
pub use gaussian_svm::{GaussianSvm, GaussianSvmParams, MultiClass, RowDraw, SvmSolver};
pub use kernel_choice::KernelName;
pub use kernel_ridge::{KernelRidge, KernelRidgeParams};
pub use kta::{Alignment, Kta, KtaParams, align};
pub use mikl::{FistaRun, Mikl, MiklParams, MixedNorm, fista};
pub use network_classifier::{SoftmaxNetwork, SoftmaxNetworkParams};
pub use random_kernel::{RandomKernel, RandomKernelParams, SecondStage, chi_square_ball};
pub use rfm::{InputMetric, RecursiveFeatureMachine, RfmParams};
pub use svm_cv::{Engine, SvmCv, SvmCvParams};

use mercer_learning::Method;

/// Declares the files and lists their methods.
macro_rules! register {
    ($($file:ident,)*) => {
        $(mod $file;)*

        /// Every baseline, in the order in which tables print them.
        pub const BASELINES: &[Method] = &[$($file::METHOD),*];
    };
}

// A new baseline is a file with a `METHOD`, and its line here.
register! {
    majority,
    mean,
    zero,
    kernel_ridge,
    falkon,
    gaussian_svm,
    gaussian_process,
    rfm,
    svm_cv,
    kta,
    bmkl,
    random_kernel,
    mikl,
    dank,
    distributed_bmkl,
    softmax_mlp,
    softmax_cnn,
}
