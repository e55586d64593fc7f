//! Where the columns of the fit stand in a file.

use super::super::{InputColumn, Schema, has_head, near_column, separator_hint, some_of};
use crate::shell::shell_word;
use mercer_learning::counted;
use std::collections::{BTreeMap, HashSet};

/// A column that a file may have.
#[derive(Clone, Copy)]
struct ExpectedColumn<'a> {
    position: usize,
    name: &'a str,
    /// Whether it is an input: the target, and what was left out, may be absent.
    needed: bool,
}

/// All columns of the file at fit time, left to right.
pub(super) struct Expected<'a> {
    columns: Vec<ExpectedColumn<'a>>,
    target: usize,
}

impl<'a> Expected<'a> {
    pub(super) fn of(schema: &'a Schema) -> Self {
        let target = (schema.target.position, schema.target.name.as_str());
        let dropped = schema.dropped.iter().map(|(position, name)| (*position, name.as_str()));
        let may = dropped.chain([target]);
        let may = may.map(|(position, name)| ExpectedColumn { position, name, needed: false });
        let must = schema.columns.iter();
        let must = must.map(|InputColumn { position, name, .. }| ExpectedColumn {
            position: *position,
            name,
            needed: true,
        });
        let mut columns: Vec<ExpectedColumn<'a>> = must.chain(may).collect();
        columns.sort_unstable_by_key(|column| column.position);
        Self { columns, target: schema.target.position }
    }

    /// Where each column stands among columns of these names, by its position at fit time, but for the columns `beside`
    /// it. `None` if an input is absent, or if a column is unknown or there twice.
    pub(super) fn by_name(
        &self,
        names: &[String],
        beside: impl Fn(&str) -> bool,
    ) -> Option<BTreeMap<usize, usize>> {
        let known: BTreeMap<&str, usize> =
            self.columns.iter().map(|column| (column.name, column.position)).collect();
        let nameless = |column: &&ExpectedColumn<'_>| has_head(column.position, column.name, "");
        // Columns without names can be told by their order only.
        let mut nameless = self.columns.iter().filter(nameless).map(|column| column.position);
        let mut places = BTreeMap::new();
        for (at, head) in names.iter().enumerate() {
            let position =
                if head.is_empty() { nameless.next() } else { known.get(head.as_str()).copied() };
            match position {
                Some(position) if places.insert(position, at).is_some() => return None,
                None if !beside(head) => return None,
                _ => {}
            }
        }
        let there = |column: &ExpectedColumn<'_>| places.contains_key(&column.position);
        self.columns.iter().all(|column| !column.needed || there(column)).then_some(places)
    }

    /// The same where columns have no names, of a file with `count` columns. They may be:
    /// - all columns of the fit,
    /// - all but the target,
    /// - the inputs alone,
    /// - the inputs and the target, if these can be distinguished.
    pub(super) fn by_count(&self, count: usize) -> Option<BTreeMap<usize, usize>> {
        let all = self.columns.len();
        let inputs = self.columns.iter().filter(|column| column.needed).count();
        let here = |column: &&ExpectedColumn<'_>| {
            let target = column.position == self.target;
            if count == all {
                true
            } else if count + 1 == all {
                !target
            } else {
                column.needed || target && count == inputs + 1
            }
        };
        let places: BTreeMap<usize, usize> =
            self.columns.iter().filter(here).map(|column| column.position).zip(0..).collect();
        (places.len() == count).then_some(places)
    }

    /// Why the columns of a file are not these, and what would make them so.
    pub(super) fn difference(&self, found: &[String], named: bool, text: bool) -> String {
        let all = self.columns.len();
        let counts = || {
            let separator = if found.len() == 1 && text {
                separator_hint(&found[0])
            } else {
                "; give it the columns of the fit, in their order".to_owned()
            };
            format!(
                "has {}, but the model was fitted on {} ({all} with the target){separator}",
                counted(found.len(), "column", "columns"),
                all - 1,
            )
        };
        if !named {
            return counts();
        }
        // By sets: there may be as many as a file has columns.
        let heads: HashSet<&str> = found.iter().map(String::as_str).collect();
        if heads.len() < found.len() {
            let mut seen = HashSet::new();
            if let Some(twice) = found.iter().find(|head| !seen.insert(*head) && !head.is_empty()) {
                return format!("has two columns called `{twice}`; remove one, or rename it");
            }
        }
        let nameless = heads.contains("");
        let there = |column: &ExpectedColumn<'_>| {
            heads.contains(column.name) || nameless && has_head(column.position, column.name, "")
        };
        let names: HashSet<&str> = self.columns.iter().map(|column| column.name).collect();
        let called = |head: &str| {
            head.is_empty() && self.columns.iter().any(|c| has_head(c.position, c.name, ""))
        };
        let unknown = |head: &&String| !names.contains(head.as_str()) && !called(head);
        if let Some(column) = self.columns.iter().find(|column| column.needed && !there(column)) {
            let name = column.name;
            // One that the model does not know may be this one, misspelled.
            let others: Vec<String> = found.iter().filter(unknown).cloned().collect();
            let remedy = self.remedy(name, found, &others, text);
            return format!("has no column `{name}`, which the model was fitted on{remedy}");
        }
        let strangers: Vec<String> = found.iter().filter(unknown).cloned().collect();
        if let Some(at) =
            found.iter().position(String::is_empty).filter(|_| strangers.contains(&String::new()))
        {
            return format!(
                "has a column without a name, its column {}, that the model does not know; remove it",
                at + 1
            );
        }
        if !strangers.is_empty() {
            return not_known(&strangers);
        }
        counts()
    }

    /// What is to be done where an input is absent and these others are there that the model does not know.
    fn remedy(&self, name: &str, found: &[String], others: &[String], text: bool) -> String {
        let order = self.columns.iter().filter(|column| column.needed);
        let order: Vec<String> = order.map(|column| column.name.to_owned()).collect();
        let same = |other: &&String| other.to_lowercase() == name.to_lowercase();
        if let Some(near) = others.iter().find(same) {
            format!("; is it its column `{near}`? rename that")
        } else if text && others.len() == found.len() && self.by_count(found.len()).is_some() {
            format!(
                "; its first row begins with {}: if that is data, write the names of the columns above \
                 it: {}",
                some_of(&found[..found.len().min(3)]),
                some_of(&order)
            )
        } else if found.len() == 1 && text && order.len() > 1 {
            separator_hint(&found[0])
        } else if let Some(near) = near_column(name, others) {
            format!("; is it its column `{near}`? rename that")
        } else {
            "; add it, or fit again without it".to_owned()
        }
    }
}

/// Which columns the model does not know, and what is to be done.
fn not_known(strangers: &[String]) -> String {
    let (columns, them) = if strangers.len() == 1 { ("column", "it") } else { ("columns", "them") };
    let flags: Vec<String> = strangers.iter().map(|name| shell_word(name)).collect();
    // A comma in a name would part two.
    let apart = strangers.iter().any(|name| name.contains(','));
    format!(
        "has {columns} {} that the model does not know; remove {them}, or leave {them} out (--drop {})",
        some_of(strangers),
        flags.join(if apart { " --drop " } else { "," })
    )
}
