use mercer_kernels::{Kernel, Sections};
use mercer_learning::{LearningError, State};
use mercer_linalg::MatrixView;
use ndarray::{Ix1, Ix2};

/// The state of a kernel expansion's sections.
pub(crate) fn kept(sections: &Sections) -> State {
    let state = State::new().with("kernel", sections.kernel());
    let MatrixView::Dense(points) = sections.points() else {
        unreachable!("the kernels of this crate are fitted to all numbers of a row")
    };
    let state = state.with_array("points", &points);
    match sections.centre() {
        Some(centre) => state.with_array("centre", &centre),
        None => state,
    }
}

/// The sections that [`kept`] has kept.
pub(crate) fn restored(state: &State) -> Result<Sections, LearningError> {
    let kernel: Kernel = state.value("kernel")?;
    let points = state.array::<f64, Ix2>("points")?;
    let centre =
        if state.holds::<f64>("centre") { Some(state.array::<f64, Ix1>("centre")?) } else { None };
    Sections::from_parts(kernel, centre, points).map_err(|error| {
        let (name, problem) = ("points".to_owned(), error.to_string());
        LearningError::State { name, problem }
    })
}
