//! Kernels, Gram matrices and random feature maps.
