//! The bounds of lists and tables, and that no bound is out of `mercer bound`'s reach.

use mercer_theory::{
    ARRAY_CALCULATORS, ArrayCalculator, Arrays, CALCULATORS, TheoryError, enumerate_rademacher,
    find_calculator,
};
use ndarray::Array2;
use std::collections::BTreeSet;
use std::path::Path;

fn examples(calculator: &ArrayCalculator) -> Arrays<'static> {
    let table = |rows: &[&[f64]]| {
        Array2::from_shape_vec((rows.len(), rows[0].len()), rows.concat()).unwrap()
    };
    calculator.inputs.iter().map(|input| (input.name, table(input.example))).collect()
}

#[test]
fn each_is_explained_and_evaluated_and_refuses_by_name() {
    let scalar = CALCULATORS.iter().map(|calculator| calculator.name);
    let names: BTreeSet<&str> =
        scalar.chain(ARRAY_CALCULATORS.iter().map(|calculator| calculator.name)).collect();
    assert_eq!(names.len(), CALCULATORS.len() + ARRAY_CALCULATORS.len(), "a name twice");
    for calculator in ARRAY_CALCULATORS {
        let name = calculator.name;
        let examples = examples(calculator);
        assert_eq!(examples.len(), calculator.inputs.len(), "{name}: an input twice");
        let bound = calculator.bound(&examples).unwrap();
        assert!(bound.value > 0.0 && bound.source == calculator.source, "{name}: {bound:?}");
        for input in calculator.inputs {
            assert!(!input.meaning.is_empty() && !input.range.is_empty());
            let mut without = examples.clone();
            without.remove(input.name);
            let missing = calculator.bound(&without).unwrap_err();
            assert!(
                matches!(missing, TheoryError::Missing { input: found, .. } if found == input.name)
            );
            // No number, and nothing at all: the error names an input of this calculator.
            for bad in [Array2::from_elem((1, 1), f64::NAN), Array2::zeros((0, 0))] {
                let mut given = examples.clone();
                given.insert(input.name, bad);
                let argument = match calculator.bound(&given) {
                    Err(
                        TheoryError::Range { argument, .. }
                        | TheoryError::Empty { argument }
                        | TheoryError::Shape { argument, .. },
                    ) => argument.replace('_', "-"),
                    other => panic!("{name} with a bad {}: {other:?}", input.name),
                };
                let known = calculator.inputs.iter().any(|input| input.name == argument);
                assert!(known, "{name} with a bad {} names {argument}", input.name);
            }
        }
        let mut more = examples;
        more.insert("bandwidth", Array2::zeros((1, 1)));
        assert!(matches!(calculator.bound(&more), Err(TheoryError::UnknownInput { .. })));
    }
    let near = find_calculator("mce-ball-complexty").unwrap_err().to_string();
    assert!(near.contains("did you mean `mce-ball-complexity`?"), "{near}");
}

#[test]
fn they_are_the_functions_of_their_names() {
    let value = |name: &str| {
        let known = ARRAY_CALCULATORS.iter().find(|known| known.name == name).unwrap();
        known.bound(&examples(known)).unwrap().value
    };
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs();
    // Both differences of frequencies have the cosines of 0.1, 0.1 and 0.15 at the three points.
    let trace = 0.5 * (3.0 + 2.0 * 0.1f64.cos() + 0.15f64.cos());
    assert!(close(value("askl-rademacher-frequencies"), 20.0 / 3.0 * (10.0 * trace).sqrt()));
    // Two columns of two signs: alike or opposite, √6 or √2 by whether the signs agree; else √3.
    let spectral = 0.25 * (6f64.sqrt() + 2f64.sqrt()) + 0.5 * 3f64.sqrt();
    assert!(close(value("askl-rademacher-exact"), 10.0 * spectral));
    // (20/3) √(10 · 1.5)
    assert!(close(value("askl-rademacher-features"), 20.0 / 3.0 * 15f64.sqrt()));
    assert!(close(value("rftk-effective-ridge"), 0.125f64.sqrt() / 4.0));
    // t − 4λ = t Tr[K(K + tI)⁻¹]/2
    let t = 4.0 * value("rftk-effective-ridge-beside");
    let trace: f64 = [1.0, 0.5, 0.25, 0.125].iter().map(|d| d / (d + t)).sum();
    assert!(close(t - 0.04, 0.5 * t * trace) && t > 0.125f64.sqrt());
    // tr = 2, ‖K‖_F² = 2.5
    assert!(close(value("rftk-effective-rank-gram"), 4.0 / 2.5));
    assert!(close(value("rftk-effective-rank-features"), 36.0 / 26.0));
    // The mean of √3 and √1 over the two patterns, times 2 · 3/2.
    assert!(close(value("mce-ball-complexity"), 1.5 * (3f64.sqrt() + 1.0)));
    // K⁻¹ = [4/3, −2/3; −2/3, 4/3]: own 1 − 0.36, yᵀK⁻¹y = 4, over 10 − 2 − 1.
    assert!(close(value("rftk-ridgeless-variance"), 0.64 * 4.0 / 7.0));
}

/// All patterns of signs are counted out: the range says for how many, and the error too.
#[test]
fn patterns_are_enumerated_for_so_many_points_and_outputs() {
    let exact =
        ARRAY_CALCULATORS.iter().find(|known| known.name == "askl-rademacher-exact").unwrap();
    let outputs = exact.inputs.iter().find(|input| input.name == "outputs").unwrap();
    assert!(outputs.range.contains("times the points at most 20"), "{}", outputs.range);
    let mut given = examples(exact);
    given.insert("outputs", Array2::from_elem((1, 1), 11.0));
    let beyond = exact.bound(&given).unwrap_err();
    assert!(
        matches!(beyond, TheoryError::TooManyPatterns { points: 2, outputs: 11, limit: 20 }),
        "{beyond}"
    );
    // Twenty orthonormal features: √20 whatever the signs.
    let averages = enumerate_rademacher(1.0, 1, Array2::eye(20).view()).unwrap();
    assert!((averages.spectral - 20f64.sqrt() / 20.0).abs() < 1e-12);
}

/// What is public in this crate and is no bound, each with its reason.
const NO_BOUNDS: [(&str, &str); 2] = [
    ("spectral_diagonals", "a kernel's diagonal, summed within `rademacher_from_frequencies`"),
    ("find_calculator", "looks calculators up"),
];

/// Sources, file by file, under a folder.
fn sources(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else {
            found.push(std::fs::read_to_string(path).unwrap());
        }
    }
}

/// Every public function is called by a calculator (those that no list has are dead code, which the
/// compiler refuses), or is named above.
#[test]
fn every_public_function_is_in_reach_of_mercer_bound() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let declared = files.iter().flat_map(|text| text.lines()).filter_map(|line| {
        let rest = line.strip_prefix("pub fn ").or_else(|| line.strip_prefix("pub const fn "))?;
        rest.split(['(', '<']).next()
    });
    let declared: BTreeSet<&str> = declared.collect();
    assert!(declared.len() > 30, "{declared:?}");
    // The text of every calculator: from its head to the closing brace in the head's column.
    let mut calculators = String::new();
    for text in &files {
        let mut close: Option<String> = None;
        for line in text.lines() {
            let bare = line.trim_start();
            let indent = &line[..line.len() - bare.len()];
            match &close {
                None if bare == "Calculator {"
                    || bare == "ArrayCalculator {"
                    || line.contains(" const ") && line.ends_with("Calculator {") =>
                {
                    close = Some(format!("{indent}}}"));
                }
                Some(brace) if line.trim_end_matches([',', ';']) == brace => close = None,
                Some(_) => {
                    calculators.push_str(line);
                    calculators.push('\n');
                }
                None => {}
            }
        }
    }
    let heads = calculators.matches("evaluate:").count();
    assert_eq!(heads, CALCULATORS.len() + ARRAY_CALCULATORS.len(), "each calculator was read");
    let called: BTreeSet<&str> =
        calculators.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).collect();
    for name in &declared {
        let excused = NO_BOUNDS.iter().any(|(known, _)| known == name);
        let reached = called.contains(name);
        assert!(reached != excused, "{name}: reached {reached}, excused {excused}");
    }
    assert!(NO_BOUNDS.iter().all(|(name, _)| declared.contains(name)));
}
