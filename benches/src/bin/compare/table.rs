//! One table of a comparison: text, Markdown, JSON.

use crate::verdict::{Change, Run, Verdict};
use serde::Serialize;
use std::fmt::Write;

/// A bench of the comparison.
#[derive(Debug, Serialize)]
pub struct Row {
    pub bench: String,
    pub verdict: Verdict,
    /// Growth of the accepted count of instructions, where there is one.
    pub instructions: Option<f64>,
    /// None of what only one side has.
    pub first: Option<Run>,
    /// Of what the first run found slower.
    pub second: Option<Run>,
}

/// All that a comparison found.
#[derive(Debug, Serialize)]
pub struct Comparison {
    pub base: String,
    pub head: String,
    /// Rounds of each run.
    pub rounds: usize,
    /// Runnable processes on average over the last minute, at the end.
    pub load: f64,
    pub rows: Vec<Row>,
    /// Benches that the time did not reach.
    pub left_out: Vec<String>,
}

const HEADER: [&str; 7] =
    ["bench", "head/base", "95 % interval", "floor", "second run", "instructions", "verdict"];

fn percent(change: f64) -> String {
    format!("{:+.1} %", 100.0 * change)
}

fn interval(change: &Change) -> String {
    format!("{:+.1} to {:+.1} %", 100.0 * change.low, 100.0 * change.high)
}

impl Comparison {
    /// Puts what fails first, then the slowest change.
    pub fn sort(&mut self) {
        let change =
            |row: &Row| row.first.as_ref().map_or(f64::NEG_INFINITY, |run| run.head.median);
        self.rows.sort_by(|a, b| {
            b.verdict.fails().cmp(&a.verdict.fails()).then(change(b).total_cmp(&change(a)))
        });
    }

    pub fn fails(&self) -> bool {
        self.rows.iter().any(|row| row.verdict.fails())
    }

    fn cells(&self) -> Vec<[String; 7]> {
        let cells = |row: &Row| {
            let of = |text: fn(&Run) -> String, run: &Option<Run>| {
                run.as_ref().map_or_else(String::new, text)
            };
            [
                row.bench.clone(),
                of(|run| percent(run.head.median), &row.first),
                of(|run| interval(&run.head), &row.first),
                of(|run| format!("{:.1} %", 100.0 * run.floor()), &row.first),
                of(|run| interval(&run.head), &row.second),
                row.instructions.map_or_else(String::new, percent),
                row.verdict.text().to_owned(),
            ]
        };
        self.rows.iter().map(cells).collect()
    }

    /// What stands above the table.
    fn heading(&self) -> String {
        let Self { base, head, rounds, load, .. } = self;
        format!("{head} against {base}, {rounds} rounds, load {load:.1}")
    }

    /// What stands below it.
    fn remarks(&self) -> String {
        let mut text = String::new();
        let failed: Vec<&str> = self
            .rows
            .iter()
            .filter(|row| row.verdict.fails())
            .map(|row| row.bench.as_str())
            .collect();
        if !self.left_out.is_empty() {
            let _ = writeln!(text, "Not measured, for want of time: {}.", self.left_out.join(", "));
        }
        for bench in failed {
            let _ = writeln!(
                text,
                "If {bench} is meant to change, say so in a commit message: Accept-bench: {bench}"
            );
        }
        text
    }

    /// Formats it as columns of spaces.
    pub fn text(&self) -> String {
        let mut rows = vec![HEADER.map(str::to_owned)];
        rows.extend(self.cells());
        let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
        let widths: [usize; 7] = std::array::from_fn(width);
        let mut text = self.heading() + "\n";
        for row in &rows {
            let cells: Vec<String> =
                row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            let _ = writeln!(text, "{}", cells.join("  ").trim_end());
        }
        text + &self.remarks()
    }

    /// Formats it as a table for the summary of a pull request.
    pub fn markdown(&self) -> String {
        let mut text = format!("### Speed: {}\n\n", self.heading());
        let line = |cells: &[String; 7]| format!("| {} |\n", cells.join(" | "));
        text += &line(&HEADER.map(str::to_owned));
        text += "|:--|--:|--:|--:|--:|--:|:--|\n";
        self.cells().iter().for_each(|row| text += &line(row));
        format!("{text}\n{}", self.remarks())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(median: f64) -> Run {
        let head = Change { median, low: median - 0.01, high: median + 0.01 };
        Run { head, control: Change { median: 0.0, low: -0.02, high: 0.01 }, rounds: Vec::new() }
    }

    fn row(bench: &str, verdict: Verdict, median: Option<f64>) -> Row {
        let bench = bench.to_owned();
        Row { bench, verdict, instructions: None, first: median.map(run), second: None }
    }

    fn comparison() -> Comparison {
        let slower = Row {
            instructions: Some(0.05),
            second: Some(run(0.09)),
            ..row("linalg/cosine", Verdict::Slower, Some(0.08))
        };
        let rows = vec![
            row("models/new", Verdict::New, None),
            row("kernels/gram", Verdict::NoDifference, Some(-0.004)),
            slower,
            row("kernels/features", Verdict::Unconfirmed, Some(0.11)),
            row("solvers/gone", Verdict::Vanished, None),
        ];
        let (base, head) = ("aaa".to_owned(), "bbb".to_owned());
        let left_out = vec!["models/all-pairs".to_owned()];
        let mut comparison = Comparison { base, head, rounds: 11, load: 2.0, rows, left_out };
        comparison.sort();
        comparison
    }

    #[test]
    fn what_fails_stands_first_then_the_slowest() {
        let found = comparison();
        let names: Vec<&str> = found.rows.iter().map(|row| row.bench.as_str()).collect();
        let expected =
            ["linalg/cosine", "solvers/gone", "kernels/features", "kernels/gram", "models/new"];
        assert_eq!(names, expected);
        assert!(found.fails());
    }

    #[test]
    fn text_and_markdown_have_the_same_cells() {
        let text = comparison().text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "bbb against aaa, 11 rounds, load 2.0");
        assert_eq!(
            lines[2],
            "linalg/cosine     +8.0 %     +7.0 to +9.0 %    2.0 %  +8.0 to +10.0 %  +5.0 %        SLOWER"
        );
        assert!(text.contains("Not measured, for want of time: models/all-pairs."));
        assert!(text.contains("Accept-bench: solvers/gone\n"));
        let markdown = comparison().markdown();
        let row = "| linalg/cosine | +8.0 % | +7.0 to +9.0 % | 2.0 % | +8.0 to +10.0 % | +5.0 % | SLOWER |";
        assert!(markdown.lines().any(|line| line == row), "{markdown}");
        let columns = |line: &str| line.matches('|').count();
        assert!(
            markdown.lines().filter(|line| line.starts_with('|')).all(|line| columns(line) == 8)
        );
    }

    #[test]
    fn machines_get_every_number() {
        let json = serde_json::to_value(comparison()).unwrap();
        assert_eq!(json["rows"][0]["bench"], "linalg/cosine");
        assert_eq!(json["rows"][0]["verdict"], "slower");
        assert_eq!(json["rows"][0]["first"]["head"]["median"], 0.08);
        assert_eq!(json["rows"][0]["second"]["control"]["low"], -0.02);
        assert_eq!(json["rows"][1]["first"], serde_json::Value::Null);
        assert_eq!(json["left_out"][0], "models/all-pairs");
    }
}
