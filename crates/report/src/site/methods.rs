//! The page of the methods.

use super::{METHODS, Own, is_board};
use crate::Catalogue;
use mercer_learning::{Method, Shape, Task, Tasks};
use mercer_render::{Block, Finding, Report, Section, Table};
use std::fmt::Write as _;

/// Every method that fits a table: what it costs and what can be set.
pub(super) fn methods_page(
    catalogue: &Catalogue,
    methods: &[Method],
    rendered: &[Own<'_>],
) -> Report {
    let mut board = rendered.iter().filter(|(artefact, _)| is_board(artefact));
    let ranked = board.find_map(|(_, own)| own.tables.first());
    let curves: Vec<&str> = catalogue.curves().iter().map(|curve| curve.method.name).collect();
    let mut page = Report::new("Methods")
        .subtitle("What each computes, when to choose it, what it costs and what can be set, with the defaults on 1000 rows of 10 columns in 2 classes. In formulas: n rows, d columns, D features, K outputs. A click opens a method.")
        .page("methods.html", METHODS);
    for (tasks, id, head) in [
        (Tasks::Both, "methods", "Classification and regression"),
        (Tasks::Classification, "classifiers", "Classification"),
        (Tasks::Regression, "regressors", "Regression"),
    ] {
        let own = methods.iter().filter(|method| method.tasks == tasks);
        let own = own.filter(|method| !curves.contains(&method.name));
        let own = own.map(|method| described(method, ranked)).collect();
        page = page.section(Section::new(id, head).block(Block::Findings(own)));
    }
    page
}

/// `pairs (20000 if unset)` for `given(pairs, 20000)` of a cost.
fn readable(cost: &str) -> String {
    let mut out = cost.to_owned();
    while let Some(start) = out.find("given(") {
        let inside = start + "given(".len();
        let Some(end) = out[inside..].find(')').map(|at| inside + at) else { break };
        let own = out[inside..end].replacen(", ", " (", 1);
        out.replace_range(start..=end, &format!("{own} if unset)"));
    }
    out
}

/// Its place in a table of ranks, whose columns are place, method, kind and mean rank.
fn place(method: &Method, ranked: &Table) -> Option<String> {
    let title = method.title.replace(" (scikit-learn)", "");
    let row =
        ranked.rows.iter().find(|row| row.cells.get(1).is_some_and(|cell| cell.text == title))?;
    let (place, rank, of) = (&row.cells.first()?.text, &row.cells.get(3)?.text, ranked.rows.len());
    Some(format!(" [Leaderboard](leaderboard/board): place {place} of {of}, mean rank {rank}."))
}

fn described(method: &Method, ranked: Option<&Table>) -> Finding {
    let Method { name, title, summary, formula, when, cites, cost, .. } = method;
    let place = ranked.and_then(|ranked| place(method, ranked)).unwrap_or_default();
    let rival = if *name == "gaussian-svm" { "kernel-ridge" } else { "gaussian-svm" };
    let target = if method.tasks == Tasks::Regression {
        "a column of numbers"
    } else {
        "a column of classes"
    };
    let costs = if name.starts_with('@') {
        "What it costs is measured alone: see the leaderboard.".to_owned()
    } else {
        let [fit, predict, memory] = [cost.fit, cost.predict, cost.memory].map(readable);
        format!("Cost of a fit: {fit}. Of a prediction: {predict}. Memory: {memory}.")
    };
    let mut body = format!(
        "For: {when}.{place}\n\n\
         ```\n{formula}\n```\n\n\
         {cites}. {costs}\n\n\
         ```\nmercer fit --method {name} --data your.csv --target COLUMN # {target}\n\
         mercer compare --methods {name},{rival} --data your.csv --target COLUMN\n```\n"
    );
    let task = if method.tasks == Tasks::Regression {
        Task::Regression
    } else {
        Task::Classification { classes: 2 }
    };
    // A program of another language has no class of its own.
    if !name.starts_with('@') {
        let class = method.class_name(task);
        let _ = write!(body, "\n```\nmodel = mercer.{class}().fit(X, y) # Python\n```\n");
    }
    let defaults = method.begun(&Shape { rows: 1000, features: 10, task });
    let settings = (method.settings)();
    if !settings.is_empty() {
        body.push_str("\n| setting | by default | allowed | meaning |\n|---|---|---|---|\n");
        for setting in settings.iter().filter(|setting| method.offers(setting)) {
            let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
            let (allowed, meaning) = (cell(&setting.allowed()), cell(&setting.meaning));
            let default = defaults.get(setting.name).unwrap_or(&setting.default);
            let default = match default.as_f64() {
                Some(number) if default.to_string().len() > 9 => {
                    let rounded: f64 = format!("{number:.2e}").parse().unwrap_or(number);
                    rounded.to_string()
                }
                _ => cell(&default.to_string()),
            };
            let _ = writeln!(body, "| `{}` | {default} | {allowed} | {meaning} |", setting.name);
        }
    }
    Finding {
        id: format!("method-{name}"),
        title: format!("{title} (`{name}`): {summary}").replace('`', ""),
        body,
        ..Finding::default()
    }
}
