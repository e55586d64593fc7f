//! What a user must know of a fit of an embedding.

use mercer_learning::{Ended, Warning, counted, fact};

/// Of embeddings with a kernel on the inputs.
pub(super) const WARNINGS: &[Warning] = &[batches_of_one, zero_lengths];

/// Each batch's embedding knows one class, so that its objective says nothing.
pub(super) fn batches_of_one(ended: &Ended<'_>) -> Option<String> {
    (ended.fact(fact::BATCH_USED)? < 2.0).then(|| {
        format!(
            "{} learned from batches of one row each, whose embedding knows one class and nothing of the \
             others: more rows of each (--set batch=), or fewer batches where there is a setting (--set batches=)",
            ended.method
        )
    })
}

/// Half of all differences in some columns are 0, and with `median=columns-unguarded` so is the length scale.
fn zero_lengths(ended: &Ended<'_>) -> Option<String> {
    let zero = ended.positive("columns-of-median-0")?;
    Some(format!(
        "{}: in {} half of all differences are 0, and so is the length scale: the kernel is 0/0, and the \
         first class is predicted everywhere (--set median=columns takes the smallest other difference)",
        ended.method,
        counted(zero as usize, "column", "columns")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_learning::Settings;

    fn told(warning: Warning, facts: &[(&str, f64)]) -> Option<String> {
        let facts = facts.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        warning(&Ended { method: "gmce-sgd", settings: &Settings::new(), facts: &facts, rows: 60 })
    }

    #[test]
    fn batches_of_one_row_are_said() {
        let one = told(batches_of_one, &[(fact::BATCH_USED, 1.0)]).unwrap();
        assert!(one.contains("--set batches="), "{one}");
        assert_eq!(told(batches_of_one, &[(fact::BATCH_USED, 8.0)]), None);
    }

    #[test]
    fn length_scales_of_0_are_said() {
        let two = told(zero_lengths, &[("columns-of-median-0", 2.0)]).unwrap();
        assert!(two.contains("2 columns"), "{two}");
        assert_eq!(told(zero_lengths, &[("columns-of-median-0", 0.0)]), None);
    }
}
