//! Fits a method to a table, keeps the model, and predicts new rows with it.

use mercer::{Budget, Choices, Model, Splitting, evaluate, methods, table, workbench};
use ndarray::array;
use std::error::Error;

/// Two moons, 60 rows.
fn moons() -> String {
    let row = |i: u32| {
        let (upper, angle) = (i.is_multiple_of(2), f64::from(i / 2) * 0.11);
        let (x, y) =
            if upper { (angle.cos(), angle.sin()) } else { (1.0 - angle.cos(), 0.5 - angle.sin()) };
        format!("{x:.3},{y:.3},{}\n", if upper { "upper" } else { "lower" })
    };
    std::iter::once("x,y,moon\n".to_owned()).chain((0..60).map(row)).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let table = table(moons().as_bytes())?;
    let found = evaluate("gaussian-svm", &table, Splitting::Folds { folds: 5, repeats: 1 })?;
    println!("accuracy by five folds: {:.3}", found.estimates["accuracy"].mean);

    // Settings are tuned inside the rows that are fitted.
    let choices = Choices { tune: Some(Budget::default()), ..Choices::plain() };
    let model = workbench::fit(&methods(), "gaussian-svm", &table, &choices)?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("moons.model");
    model.save(&path, false)?;

    let model = Model::load(&path, &methods())?;
    let predicted = model.predict(array![[0.0, 1.0], [1.0, -0.5]], "two points", &[1, 2], 1)?;
    println!("{predicted:?}");
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
