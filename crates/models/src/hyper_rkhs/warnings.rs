//! What a user must know of a fit with a learned kernel.

use mercer_learning::{Ended, Warning, fact};

pub(super) const WARNINGS: &[Warning] =
    &[indefinite, flat_kernel, unread, features_apart, pairs_left_out];

/// Share of the negative eigenvalues in the sum of absolute values from which on they are worth a word.
const NEGATIVE: f64 = 0.05;

/// Variation of a learned kernel's values, as a share of the largest, below which they are all the same.
const FLAT: f64 = 1e-9;

/// Relative error of features that stand in for a kernel, above which they are another one.
const APART: f64 = 0.1;

/// An SVM took a kernel with negative eigenvalues as it is: its problem has no single solution, and it ends in one that
/// may be far from the best.
fn indefinite(ended: &Ended<'_>) -> Option<String> {
    let biased = ended.fact("negative-mass-without-bias");
    let mass = biased.or_else(|| ended.fact("negative-mass"))?;
    let as_is = ended.word("spectrum") == Some("as-is") && ended.word("stage2") == Some("machine");
    (as_is && mass > NEGATIVE).then(|| {
        format!(
            "{}: negative eigenvalues are {:.1} % of those of the learned kernel, and the machine took it as it \
             is, in which it finds some stationary point: --set spectrum=flip or clip makes the kernel positive",
            ended.method,
            100.0 * mass
        )
    })
}

/// The kernel has one value for any two different rows: its widths lie far below or far above what the inputs are apart.
fn flat_kernel(ended: &Ended<'_>) -> Option<String> {
    ended.fact(fact::KERNEL_VARIATION).filter(|&variation| variation < FLAT)?;
    let wishart = ended.word("hyper") == Some("wishart");
    let searched = ended.word("search").is_some_and(|search| search != "none");
    let names: &[&str] = if wishart || searched { &["width"] } else { &["width", "spread"] };
    let widths: Vec<String> = names
        .iter()
        .zip(["the inputs' variance", "that"])
        .filter_map(|(name, of)| Some((name, ended.number(name)?, of)))
        .map(|(name, value, of)| {
            let plain = (1e-3..1e4).contains(&value);
            let value = if plain { value.to_string() } else { format!("{value:e}") };
            format!("`{name}` = {value} of {of}")
        })
        .collect();
    Some(format!(
        "{}: the learned kernel has one value for any two different rows, and tells nothing of them: {} \
         is far too small or far too large (--set width=1, --tune), or one column dwarfs the others (--scale)",
        ended.method,
        if widths.is_empty() { "its width".to_owned() } else { widths.join(" or ") }
    ))
}

/// Settings were changed that the solver which `solver=auto` chose for these rows does not read.
fn unread(ended: &Ended<'_>) -> Option<String> {
    let names = ended.facts.keys().filter_map(|name| name.strip_prefix(fact::UNREAD));
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let method = ended.method;
    (!names.is_empty()).then(|| {
        format!(
            "{method}: the solver that solver=auto chose for these rows does not read {}: leave that out, or choose a \
             solver that does (--set solver=; see mercer list methods {method})",
            names.join(", ")
        )
    })
}

/// The features of a second stage are far from the learned kernel that they stand in for.
fn features_apart(ended: &Ended<'_>) -> Option<String> {
    let error = ended.fact(fact::FEATURES_ERROR).filter(|&error| error > APART)?;
    let rank = ended.settings.get("feature_rank");
    let rank = rank.map_or_else(String::new, |rank| format!(" = {rank}"));
    Some(format!(
        "{}: the features of its second stage differ from the learned kernel by {:.0} % (of its norm over some \
         training rows): what is fitted is another kernel. Take more of them (`feature_rank`{rank}) or the whole kernel \
         on some rows (--set stage2=machine)",
        ended.method,
        100.0 * error
    ))
}

/// The regression sums over some of the pairs that its rows have.
fn pairs_left_out(ended: &Ended<'_>) -> Option<String> {
    ended.number("pairs")?;
    let (summed, points) = (ended.fact("pairs")?, ended.fact("stage-1-rows")?);
    let all = points * points / ended.number("subsets").unwrap_or(1.0);
    (summed < all).then(|| {
        format!(
            "{}: its regression sums over {summed} of {all:.0} ordered pairs, drawn at random: its setting `pairs`; \
             more are nearer to all of them, and take longer",
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
        warning(&Ended { method: "hyper-svr", settings, facts: &facts, rows: 60 })
    }

    #[test]
    fn a_kernel_with_negative_eigenvalues_is_said() {
        let as_is = Settings::new().with("stage2", "machine").with("spectrum", "as-is");
        let much = told(indefinite, &as_is, &[("negative-mass", 0.168)]).unwrap();
        assert!(much.contains("16.8 %") && much.contains("--set spectrum=flip"), "{much}");
        assert_eq!(told(indefinite, &as_is, &[("negative-mass", 0.001)]), None);
        let flipped = as_is.with("spectrum", "flip");
        assert_eq!(told(indefinite, &flipped, &[("negative-mass", 0.168)]), None);
    }

    #[test]
    fn a_flat_kernel_is_said_with_its_widths() {
        let settings = Settings::new().with("width", 1e-20).with("spread", 1.0);
        let flat = told(flat_kernel, &settings, &[(fact::KERNEL_VARIATION, 0.0)]).unwrap();
        let widths = "`width` = 1e-20 of the inputs' variance or `spread` = 1 of that is far too";
        assert!(flat.contains(widths), "{flat}");
        assert_eq!(told(flat_kernel, &settings, &[(fact::KERNEL_VARIATION, 0.4)]), None);
    }

    #[test]
    fn settings_that_are_not_read_are_said() {
        let one = told(unread, &Settings::new(), &[("unread-pairs", 1.0)]).unwrap();
        assert!(one.contains("`pairs`") && one.contains("--set solver="), "{one}");
        assert_eq!(told(unread, &Settings::new(), &[("pairs", 1.0)]), None);
    }

    #[test]
    fn features_of_another_kernel_are_said() {
        let settings = Settings::new().with("feature_rank", 100);
        let far = told(features_apart, &settings, &[(fact::FEATURES_ERROR, 0.3)]).unwrap();
        assert!(far.contains("30 %") && far.contains("`feature_rank` = 100"), "{far}");
        assert_eq!(told(features_apart, &settings, &[(fact::FEATURES_ERROR, 0.01)]), None);
    }

    #[test]
    fn pairs_that_are_left_out_are_said() {
        let settings = Settings::new().with("pairs", 4000).with("subsets", 2);
        let of =
            |pairs| told(pairs_left_out, &settings, &[("pairs", pairs), ("stage-1-rows", 200.0)]);
        let some = of(8000.0).unwrap();
        assert!(some.contains("8000 of 20000 ordered pairs"), "{some}");
        assert_eq!(of(20000.0), None);
    }
}
