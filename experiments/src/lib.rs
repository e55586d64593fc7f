//! The specs, and one module per table and figure.
