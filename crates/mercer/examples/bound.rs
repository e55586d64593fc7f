//! Evaluates a bound of a paper, and what its terms are.

use mercer::bounds::find_calculator;
use std::collections::BTreeMap;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    // ASKL's bound (12): a trace norm, classes, rows.
    let calculator = find_calculator("askl-rate")?;
    for rows in [100.0, 10_000.0, 1_000_000.0] {
        let inputs = BTreeMap::from([("trace-norm", 5.0), ("outputs", 10.0), ("rows", rows)]);
        println!("{rows:>9} rows: {:.4}", calculator.bound(&inputs)?.value);
    }
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
