use mercer_kernels::{Kernel, Sections};
use mercer_learning::{LearningError, State};
use mercer_linalg::{Matrix, MatrixView, SparseRows};
use ndarray::{ArrayView1, Ix1, Ix2};

/// Whether the kernel is known between rows that it was not fitted to.
pub(crate) const fn between_others(sections: &Sections) -> bool {
    !matches!(sections.kernel(), Kernel::Precomputed { .. })
}

/// Whether the points are held by what is not 0 in them.
pub(crate) fn is_sparse(sections: &Sections) -> bool {
    matches!(sections.points(), MatrixView::Sparse(_))
}

/// The state of a kernel expansion's sections.
pub(crate) fn kept(sections: &Sections) -> State {
    let state = State::new().with("kernel", sections.kernel());
    let state = match sections.points() {
        MatrixView::Dense(points) => state.with_array("points", &points),
        MatrixView::Sparse(points) => {
            let starts = points.indptr();
            state
                .with("features", points.cols())
                .with_array("starts", &ArrayView1::from(starts.raw_storage()))
                .with_array("columns", &ArrayView1::from(points.indices()))
                .with_array("values", &ArrayView1::from(points.data()))
        }
    };
    match sections.centre() {
        Some(centre) => state.with_array("centre", &centre),
        None => state,
    }
}

/// The sections that [`kept`] has kept.
pub(crate) fn restored(state: &State) -> Result<Sections, LearningError> {
    let kernel: Kernel = state.value("kernel")?;
    let wrong = |problem: String| LearningError::State { name: "points".to_owned(), problem };
    let points = if state.holds::<f64>("values") {
        let starts = state.array::<u32, Ix1>("starts")?.to_vec();
        let columns = state.array::<u32, Ix1>("columns")?.to_vec();
        let values = state.array::<f64, Ix1>("values")?.to_vec();
        let shape = (starts.len().saturating_sub(1), state.value("features")?);
        let rows = SparseRows::try_new(shape, starts, columns, values);
        Matrix::Sparse(rows.map_err(|(_, _, _, error)| wrong(error.to_string()))?)
    } else {
        Matrix::Dense(state.array::<f64, Ix2>("points")?)
    };
    let centre =
        if state.holds::<f64>("centre") { Some(state.array::<f64, Ix1>("centre")?) } else { None };
    Sections::from_parts(kernel, centre, points).map_err(|error| wrong(error.to_string()))
}
