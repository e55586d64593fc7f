//! What a user must know of a fit with random features.

use mercer_learning::{Ended, Warning, counted, fact};

/// Of features with a closed form.
pub(super) const OF_FEATURES: &[Warning] = &[angles_lost, at_the_peak, inverted];
/// Of features that are trained.
pub(super) const OF_STEPS: &[Warning] = &[hardly_moved, never_penalised, angles_lost];
/// Of the kernel.
pub(super) const OF_KERNELS: &[Warning] = &[inverted];

/// Moves of the frequencies below which they are hardly learned.
const FEW_MOVES: f64 = 10.0;

/// Frequencies that moved a few times only are about those that were drawn.
fn hardly_moved(ended: &Ended<'_>) -> Option<String> {
    // A method that does not learn them has no `penalised-steps`.
    let moves =
        ended.fact("frequency-steps").filter(|_| ended.fact("penalised-steps").is_some())?;
    (moves < FEW_MOVES).then(|| {
        format!(
            "{} moved its frequencies {} only, so that they are about those that were drawn (rf-sgd): \
             --set every=N moves them every N steps, --set epochs=N trains longer",
            ended.method,
            counted(moves as usize, "time", "times")
        )
    })
}

/// A penalty of the trace took part in no step: the clocks of the penalty and of the moves never met.
fn never_penalised(ended: &Ended<'_>) -> Option<String> {
    let beta = ended.number("beta").filter(|&beta| beta > 0.0)?;
    (ended.fact("penalised-steps") == Some(0.0)).then(|| {
        format!(
            "{}: the penalty (beta={beta}) took part in no step, so that this is a fit without it: it is due every \
             `trace_every` steps, and only where the frequencies move, every `every` (--set trace_every=, --set every=); \
             --set epochs=N trains longer",
            ended.method
        )
    })
}

/// The angles of random features have no digit behind the point: their cosines, and everything learned from them, are
/// noise.
fn angles_lost(ended: &Ended<'_>) -> Option<String> {
    let share = ended.positive(fact::LOST_ANGLES)?;
    let ran_away = if ended.fact("penalised-steps").is_some() {
        ", or lower the rate with which the frequencies ran away (--set frequency_rate=)"
    } else {
        ""
    };
    Some(format!(
        "{}: {:.1} % of its features are cosines of angles so large that the number format has no digit \
         behind their point, and so are noise: scale the inputs (--scale standard), or take a smaller \
         --set std={ran_away}",
        ended.method,
        100.0 * share
    ))
}

/// Random features without a ridge or a cut-off are about as many as the rows: the error of the solution of least norm
/// has its peak there.
fn at_the_peak(ended: &Ended<'_>) -> Option<String> {
    let (features, rows) = (ended.number("features")? as usize, ended.rows);
    let uncut = ended.settings.get("cutoff")?.is_null() || in_single_precision(ended);
    let bare = ended.number("lambda")? == 0.0 && uncut;
    // A tenth to either side: beyond, the variance is below ten times that of the noise.
    let near = features.abs_diff(rows) * 10 <= rows;
    (bare && near).then(|| {
        format!(
            "{}: {features} features of {rows} rows, and neither a ridge nor a cut-off: where the two are about \
             equal the error on other rows has its peak. Take more features or fewer (--set features=), a \
             ridge (--set lambda=) or a cut-off (--set cutoff=)",
            ended.method
        )
    })
}

/// Whether a closed form is the released code's explicit inverse, which knows no cut-off.
fn in_single_precision(ended: &Ended<'_>) -> bool {
    ended.word("precision") == Some("f32-inverse")
}

/// An explicit inverse in single precision says nothing of a matrix that is nearly singular.
fn inverted(ended: &Ended<'_>) -> Option<String> {
    in_single_precision(ended).then(|| {
        format!(
            "{}: an explicit inverse in single precision (precision=f32-inverse), as a released code has it: of a \
             matrix that is nearly singular it is rounding, on the rows of the fit too, and nothing tells. Take \
             --set precision=f64, or a larger --set lambda=",
            ended.method
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_learning::Settings;

    fn told(warning: Warning, settings: &Settings, facts: &[(&str, f64)]) -> Option<String> {
        let facts = facts.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        warning(&Ended { method: "rftk", settings, facts: &facts, rows: 60 })
    }

    #[test]
    fn frequencies_that_hardly_moved_are_said() {
        let moved = |facts: &[(&str, f64)]| told(hardly_moved, &Settings::new(), facts);
        let few = moved(&[("frequency-steps", 2.0), ("penalised-steps", 2.0)]).unwrap();
        assert!(few.contains("2 times") && few.contains("--set every="), "{few}");
        assert_eq!(moved(&[("frequency-steps", 0.0)]), None);
    }

    #[test]
    fn a_penalty_in_no_step_is_said() {
        let asked = Settings::new().with("beta", 1.0).with("every", 8).with("trace_every", 7);
        let none = told(never_penalised, &asked, &[("penalised-steps", 0.0)]).unwrap();
        assert!(none.contains("beta=1") && none.contains("--set trace_every="), "{none}");
        assert_eq!(told(never_penalised, &asked, &[("penalised-steps", 3.0)]), None);
        let unasked = asked.with("beta", 0.0);
        assert_eq!(told(never_penalised, &unasked, &[("penalised-steps", 0.0)]), None);
    }

    #[test]
    fn lost_angles_are_said() {
        let lost = |facts: &[(&str, f64)]| told(angles_lost, &Settings::new(), facts);
        let fixed = lost(&[(fact::LOST_ANGLES, 0.997)]).unwrap();
        assert!(fixed.contains("99.7 %") && !fixed.contains("frequency_rate"), "{fixed}");
        let learned = lost(&[(fact::LOST_ANGLES, 0.997), ("penalised-steps", 9.0)]).unwrap();
        assert!(learned.contains("--set frequency_rate="), "{learned}");
        assert_eq!(lost(&[]), None);
    }

    #[test]
    fn as_many_bare_features_as_rows_are_said() {
        let bare = Settings::new().with("features", 60).with("lambda", 0.0);
        let bare = bare.with("cutoff", None::<f64>);
        let peak = told(at_the_peak, &bare, &[]).unwrap();
        assert!(
            peak.contains("60 features of 60 rows") && peak.contains("--set cutoff="),
            "{peak}"
        );
        assert_eq!(told(at_the_peak, &bare.clone().with("features", 200), &[]), None);
        let cut = bare.with("cutoff", 1e-4);
        assert_eq!(told(at_the_peak, &cut, &[]), None);
        let single = cut.with("precision", "f32-inverse");
        assert!(told(at_the_peak, &single, &[]).is_some());
        assert!(told(inverted, &single, &[]).unwrap().contains("--set precision=f64"));
        assert_eq!(told(inverted, &single.with("precision", "f64"), &[]), None);
    }
}
