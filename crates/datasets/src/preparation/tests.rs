use super::fitting::median;
use super::*;
use crate::{RowFile, Scaling, SchemaOptions, survey};
use approx::assert_abs_diff_eq;
use ndarray::array;
use proptest::prelude::*;

fn prepared(
    text: &str,
    impute: Option<Impute>,
    categories: Categories,
) -> Result<Array2<f64>, DataError> {
    let file = RowFile::spooled(text.as_bytes(), "f", None)?;
    let (schema, rows) = survey(&file, &SchemaOptions { categories, ..SchemaOptions::default() })?;
    let (mut inputs, truths, lines) = schema.read(&file)?.chunk(rows, true)?;
    let mut preparing = Preparing::new(&schema, Scaling::None, impute);
    let mut reading = schema.read(&file)?;
    while let Some(row) = reading.next(true)? {
        preparing.see(row.numbers, row.truth, "f", row.line)?;
    }
    assert_eq!(truths.len(), rows);
    let preparation = preparing.finish()?;
    preparation.check(&schema).unwrap();
    preparation.apply(&mut inputs, &schema, "f", &lines)?;
    Ok(inputs)
}

const HOLES: &str = "a,b,y\n1,red,0.5\n,blue,1.5\n4,NA,2.5\n10,red,3.5\n";

#[test]
fn missing_numbers_are_filled_with_what_was_asked() {
    let mean = prepared(HOLES, Some(Impute::Mean), Categories::OneHot).unwrap();
    // Columns: a, b=blue, b=red; red is the most frequent.
    assert_eq!(mean, array![[1., 0., 1.], [5., 1., 0.], [4., 0., 1.], [10., 0., 1.]]);
    let median = prepared(HOLES, Some(Impute::Median), Categories::Ordinal).unwrap();
    assert_eq!(median, array![[1., 1.], [4., 0.], [4., 1.], [10., 1.]]);
    let error = prepared(HOLES, None, Categories::OneHot).unwrap_err().to_string();
    assert!(error.starts_with("f:3: column `a` has no value; fill it (--impute"), "{error}");
    let error = prepared(&HOLES.replace("\n,", "\n2,"), None, Categories::OneHot).unwrap_err();
    assert!(error.to_string().starts_with("f:4: column `b` has no value"), "{error}");
}

/// A learner would name the row by its place and the column by its number, and the value as infinite.
#[test]
fn a_number_that_scaling_makes_infinite_is_named_by_its_line() {
    let file = RowFile::spooled(&b"a,b,y\n1,0.001,0.5\n3,0.002,2.5\n"[..], "f", None).unwrap();
    let (schema, _) = survey(&file, &SchemaOptions::default()).unwrap();
    let mut preparing = Preparing::new(&schema, Scaling::Standard, None);
    let mut reading = schema.read(&file).unwrap();
    while let Some(row) = reading.next(true).unwrap() {
        preparing.see(row.numbers, row.truth, "f", row.line).unwrap();
    }
    let mut rows = array![[1.0, 0.001], [2.0, 1e308]];
    let preparation = preparing.finish().unwrap();
    let error = preparation.apply(&mut rows, &schema, "new", &[2, 7]).unwrap_err().to_string();
    assert!(error.starts_with("new:7: column `b` holds a number too large"), "{error}");
}

#[test]
fn numbers_that_overflow_are_refused_by_column_and_not_flattened() {
    let finished = |text: &str, scaling| {
        let file = RowFile::spooled(text.as_bytes(), "f", None).unwrap();
        let kind = Some(crate::Kind::Regression);
        let options = SchemaOptions { kind, ..SchemaOptions::default() };
        let (schema, _) = survey(&file, &options).unwrap();
        let mut preparing = Preparing::new(&schema, scaling, None);
        let mut reading = schema.read(&file).unwrap();
        while let Some(row) = reading.next(true).unwrap() {
            preparing.see(row.numbers, row.truth, "f", row.line).unwrap();
        }
        preparing.finish().map(drop).map_err(|error| error.to_string())
    };
    let rows = |x: f64, y: f64| {
        let row = |i: u32| format!("{},{:e},{:e}\n", i % 2, x * f64::from(i), y * f64::from(i));
        format!("a,b,y\n{}", (1..9).map(row).collect::<String>())
    };
    for scaling in [Scaling::Standard, Scaling::Symmetric, Scaling::UnitInterval] {
        assert_eq!(finished(&rows(1e100, 1e100), scaling), Ok(()));
        let said = finished(&rows(0.5, 1e200), scaling).unwrap_err();
        assert!(said.contains("the target `y`") && said.contains("power of ten"), "{said}");
    }
    let said = finished(&rows(1e200, 0.5), Scaling::Standard).unwrap_err();
    assert!(said.contains("column `b`") && said.contains("power of ten"), "{said}");
}

#[test]
fn medians_are_the_middle() {
    for (mut values, middle) in [
        (vec![3.0], 3.0),
        (vec![4.0, 1.0], 2.5),
        (vec![9.0, 1.0, 5.0], 5.0),
        (vec![1.0, 9.0, 2.0, 4.0], 3.0),
    ] {
        assert_eq!(median(&mut values).to_bits(), f64::to_bits(middle), "{values:?}");
    }
}

proptest! {
    /// Numbers, medians, categories and targets of rows with weights are as for so many equal rows.
    #[test]
    fn a_weight_is_so_many_equal_rows(
        rows in proptest::collection::vec((-9..9i32, 0..4usize, 0..3usize, 0..4usize), 4..12),
        median in proptest::bool::ANY,
    ) {
        // Of equally frequent categories rounding would choose.
        let mut counts = [0, 1, 3].map(|level| {
            1 + rows.iter().filter(|row| row.1 == level).map(|row| row.3).sum::<usize>()
        });
        counts.sort_unstable();
        prop_assume!(counts[2] > counts[1]);
        let line = |&(x, level, y, _): &(i32, usize, usize, usize)| {
            let x = if x == -9 { String::new() } else { x.to_string() };
            format!("{x},{},{y}.5\n", ["red", "blue", "", "green"][level])
        };
        let whole = "1,red,0.5\n2,blue,1.5\n3,green,0.25\n";
        let text = format!("a,b,y\n{whole}{}", rows.iter().map(line).collect::<String>());
        let times: Vec<usize> = [1, 1, 1].into_iter().chain(rows.iter().map(|row| row.3)).collect();
        let file = RowFile::spooled(text.as_bytes(), "f", None).unwrap();
        let impute = Some(if median { Impute::Median } else { Impute::Mean });
        for categories in [Categories::OneHot, Categories::Ordinal] {
            let options = SchemaOptions { categories, kind: Some(crate::Kind::Regression), ..SchemaOptions::default() };
            let (schema, count) = survey(&file, &options).unwrap();
            let mut both = [0, 1].map(|_| Preparing::new(&schema, Scaling::Standard, impute));
            let mut reading = schema.read(&file).unwrap();
            for &times in &times {
                let row = reading.next(true).unwrap().unwrap();
                both[0].see_weighted(row.numbers, row.truth, "f", row.line, times as f64).unwrap();
                for _ in 0..times {
                    both[1].see(row.numbers, row.truth, "f", row.line).unwrap();
                }
            }
            let (inputs, _, lines) = schema.read(&file).unwrap().chunk(count, true).unwrap();
            let [weighted, repeated] = both.map(|preparing| {
                let preparation = preparing.finish().unwrap();
                let mut inputs = inputs.clone();
                preparation.apply(&mut inputs, &schema, "f", &lines).unwrap();
                (inputs, preparation.target().unwrap())
            });
            assert_abs_diff_eq!(weighted.0, repeated.0, epsilon = 1e-9);
            assert_abs_diff_eq!(weighted.1.mean, repeated.1.mean, epsilon = 1e-9);
            assert_abs_diff_eq!(weighted.1.deviation, repeated.1.deviation, epsilon = 1e-9);
        }
    }

    #[test]
    fn moments_are_those_of_the_definition(
        values in proptest::collection::vec(-1e3..1e3f64, 1..30), extra in 0usize..5, fill in -1e3..1e3f64,
    ) {
        let mut moments = Moments::default();
        for &value in &values {
            moments.see(value);
        }
        moments.repeat(fill, extra as f64);
        let all: Vec<f64> = values.iter().copied().chain(std::iter::repeat_n(fill, extra)).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let variance = all.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / all.len() as f64;
        assert_abs_diff_eq!(moments.mean(), mean, epsilon = 1e-9);
        assert_abs_diff_eq!(moments.deviation(), variance.sqrt(), epsilon = 1e-6);
    }

    #[test]
    fn a_scaler_of_moments_is_the_scaler_of_the_rows(
        values in proptest::collection::vec(-1e3..1e3f64, 12),
    ) {
        let inputs = Array2::from_shape_vec((4, 3), values).unwrap();
        let mut moments = vec![Moments::default(); 3];
        for row in inputs.rows() {
            row.iter().zip(&mut moments).for_each(|(&value, moments)| moments.see(value));
        }
        for scaling in [Scaling::None, Scaling::UnitInterval, Scaling::Symmetric, Scaling::Standard, Scaling::Bytes] {
            let ours = Scaler::of_moments(scaling, &moments).apply(inputs.view());
            assert_abs_diff_eq!(ours, Scaler::fit(scaling, inputs.view()).apply(inputs.view()), epsilon = 1e-9);
        }
    }
}

/// With all their numbers the rows would be filled so.
#[test]
fn sparse_rows_have_the_means_and_medians_of_dense_ones() {
    let text = "-1 1:3 2:-1 3:7\n1 1:2 3:1\n-1 1:5 2:4\n1 2:-2\n";
    let file = RowFile::spooled(text.as_bytes(), "f", Some(crate::RowFormat::Svmlight)).unwrap();
    let (schema, _) = survey(&file, &SchemaOptions::default()).unwrap();
    let (rows, truths, _) = schema.read(&file).unwrap().sparse(usize::MAX, true).unwrap();
    for impute in [Impute::Mean, Impute::Median] {
        let mut sparse = Preparing::new(&schema, Scaling::None, Some(impute)).keeping_zeros();
        sparse.see_sparse(&rows, &[0, 1, 2, 3], |row| (truths.of(row), 1.0));
        let mut dense = Preparing::new(&schema, Scaling::None, Some(impute));
        let mut reading = schema.read(&file).unwrap();
        while let Some(row) = reading.next(true).unwrap() {
            dense.see(row.numbers, row.truth, "f", row.line).unwrap();
        }
        let filled = |preparing: Preparing<'_>| {
            let mut hole = ndarray::array![[f64::NAN, f64::NAN, f64::NAN]];
            preparing.finish().unwrap().apply(&mut hole, &schema, "f", &[1]).unwrap();
            hole
        };
        let (sparse, dense) = (filled(sparse), filled(dense));
        assert!((&sparse - &dense).iter().all(|apart| apart.abs() < 1e-15), "{sparse} {dense}");
    }
}
