//! Dense linear algebra and vectorised elementary functions.
