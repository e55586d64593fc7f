//! Every calculator: found, explained, evaluated; refuses by name; never NaN.

use mercer_theory::{Bound, CALCULATORS, Calculator, TheoryError, find_calculator};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn examples(calculator: &Calculator) -> BTreeMap<&'static str, f64> {
    calculator.inputs.iter().map(|input| (input.name, input.example)).collect()
}

/// What is out of range is called as it is given.
#[test]
fn an_error_names_the_input_as_it_is_written() {
    let rate = find_calculator("askl-rate").unwrap();
    let given = [("trace-norm", -1.0), ("outputs", 2.0), ("rows", 4.0)].into();
    let told = rate.bound(&given).unwrap_err().to_string();
    assert!(told.starts_with("`trace-norm` is -1"), "{told}");
}

#[test]
fn the_cases_of_corollary_1_are_counted_from_one() {
    let regime = find_calculator("rftk-sgd-regime").unwrap();
    let batch = |case: f64| {
        let mut given = examples(regime);
        given.insert("case", case);
        regime.bound(&given).map(|bound| (bound.term("b").unwrap(), given["rows"]))
    };
    let ((one, rows), (all, _)) = (batch(1.0).unwrap(), batch(3.0).unwrap());
    assert_eq!((one, all), (1.0, rows));
    let told = batch(4.0).unwrap_err().to_string();
    assert!(told.starts_with("`case` is 4"), "{told}");
}

#[test]
fn every_calculator_can_be_found_explained_and_evaluated() {
    let names: BTreeSet<&str> = CALCULATORS.iter().map(|calculator| calculator.name).collect();
    assert_eq!(names.len(), CALCULATORS.len());
    for calculator in CALCULATORS {
        let found = find_calculator(calculator.name).unwrap();
        assert_eq!(found.title, calculator.title);
        let examples = examples(calculator);
        assert_eq!(examples.len(), calculator.inputs.len(), "{}: a name twice", calculator.name);
        let bound = calculator.bound(&examples).unwrap();
        assert!(bound.value > 0.0 && bound.source == calculator.source, "{}", calculator.name);
        for input in calculator.inputs {
            assert!(!input.meaning.is_empty() && !input.range.is_empty());
            let mut without = examples.clone();
            without.remove(input.name);
            assert_eq!(calculator.bound(&without).is_ok(), input.default.is_some());
        }
        let mut more = examples.clone();
        more.insert("bandwidth", 1.0);
        assert!(matches!(calculator.bound(&more), Err(TheoryError::UnknownInput { .. })));
    }
    let unknown = find_calculator("askl").unwrap_err();
    assert!(
        unknown.to_string().contains("did you mean `askl-rademacher`, `askl-rate`"),
        "{unknown}"
    );
}

/// Values just outside a range, by the words in which it is stated.
fn outside(range: &str) -> Vec<f64> {
    let tiny = f64::MIN_POSITIVE;
    if range == "positive; `inf` too" {
        return vec![f64::NAN, f64::NEG_INFINITY, -1.0, -tiny, 0.0, -0.0];
    }
    let mut values = vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, -tiny, f64::MIN];
    values.extend(match range {
        "a whole number from 1" => vec![0.0, 0.5, 2.5, 1e300],
        "1, 2 or 3" => vec![0.0, 1.5, 4.0, 1e300],
        "not negative" => vec![],
        "positive" => vec![0.0, -0.0],
        "above 0 and below 1" => vec![0.0, 1.0, 2.0],
        "above 1 and finite" => vec![0.0, 0.5, 1.0],
        "above 0 and at most 1" => vec![0.0, 1.0 + f64::EPSILON, 2.0],
        "positive and at most the trace" => vec![0.0, 1e300],
        unknown => panic!("no test values for the range `{unknown}`"),
    });
    values
}

#[test]
fn each_input_out_of_its_range_is_refused_by_name() {
    for calculator in CALCULATORS {
        for input in calculator.inputs {
            for value in outside(input.range) {
                let mut given = examples(calculator);
                given.insert(input.name, value);
                let place = format!("{} with {} = {value}", calculator.name, input.name);
                match calculator.bound(&given).expect_err(&place) {
                    TheoryError::Range { argument, value: found, .. } => {
                        assert_eq!(argument.replace('_', "-"), input.name, "{place}");
                        assert!(same(found, value), "{place}: {found}");
                    }
                    other => panic!("{place}: {other}"),
                }
            }
        }
    }
}

/// The same number, or NaN both.
fn same(a: f64, b: f64) -> bool {
    a.total_cmp(&b).is_eq() || a.is_nan() && b.is_nan()
}

/// Numbers that break formulas, and ordinary ones.
fn any_number() -> impl Strategy<Value = f64> {
    let special = [
        0.0,
        -0.0,
        1.0,
        2.0,
        3.0,
        0.5,
        -1.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MIN_POSITIVE,
        5e-324,
        f64::MAX,
        1e160,
        1e-160,
        9_007_199_254_740_992.0,
        9_007_199_254_740_994.0,
        4_294_967_296.0,
    ];
    prop_oneof![
        3 => proptest::sample::select(special.to_vec()),
        2 => (1u32..1000).prop_map(f64::from),
        2 => (-300.0..300.0f64).prop_map(|exponent| 10f64.powf(exponent)),
        1 => any::<f64>(),
    ]
}

fn finite(bound: &Bound) -> bool {
    bound.value.is_finite() && bound.terms.iter().all(|(_, term)| term.is_finite())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Whatever the numbers: a finite bound, or an error that names one of the inputs.
    #[test]
    fn a_bound_is_finite_or_an_input_is_named(
        which in 0..CALCULATORS.len(),
        values in proptest::collection::vec(any_number(), 8),
    ) {
        let calculator = &CALCULATORS[which];
        prop_assert!(calculator.inputs.len() <= values.len());
        let names = calculator.inputs.iter().map(|input| input.name);
        let given: BTreeMap<&str, f64> = names.clone().zip(values).collect();
        match calculator.bound(&given) {
            Ok(bound) => {
                prop_assert!(finite(&bound) && bound.value >= 0.0, "{given:?}: {bound:?}");
                prop_assert_eq!(bound.source, calculator.source);
            }
            Err(TheoryError::Range { argument, value, .. }) => {
                let name = argument.replace('_', "-");
                let input = given.get(name.as_str());
                prop_assert!(input.is_some(), "{} names {argument}", calculator.name);
                let input = *input.unwrap();
                prop_assert!(same(input, value), "{argument}: {value} for {input}");
            }
            Err(TheoryError::Overflow { calculator: name, .. }) => {
                prop_assert_eq!(name, calculator.name);
                // Only where numbers are extreme, not as an excuse.
                let extreme = |v: &f64| *v > 1e25 || *v < 1e-25;
                prop_assert!(given.values().any(extreme), "{given:?} overflows");
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    /// One input moved within ordinary sizes, the others at their examples.
    #[test]
    fn one_input_off_its_example_changes_no_other(
        which in 0..CALCULATORS.len(),
        slot in 0usize..8,
        value in any_number(),
    ) {
        let calculator = &CALCULATORS[which];
        let input = &calculator.inputs[slot % calculator.inputs.len()];
        let mut given = examples(calculator);
        given.insert(input.name, value);
        match calculator.bound(&given) {
            Ok(bound) => prop_assert!(finite(&bound)),
            Err(TheoryError::Range { argument, .. }) => {
                // One answers for a pair that does not fit: M near n, more subsets than points, a loss above −ln ε.
                let name = argument.replace('_', "-");
                let pair =
                    ["features", "frobenius", "subsets", "landmarks", "loss"].contains(&name.as_str());
                prop_assert!(name == input.name || pair, "{} names {name}", calculator.name);
            }
            Err(TheoryError::Overflow { .. }) => prop_assert!(!(1e-25..1e25).contains(&value)),
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}
