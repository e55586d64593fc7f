use super::args::InfoArgs;
use super::{plain, print_json, quoted};
use crate::Ended;
use mercer_datasets::Holds;
use mercer_experiments::registry;
use mercer_workbench::{Header, Model};
use std::io::Write;

/// Names shown of a long list.
const SHOWN: usize = 12;

pub(crate) fn run(args: &InfoArgs) -> anyhow::Result<Ended> {
    let model = Model::load(&args.model, &registry())?;
    if args.json {
        print_json(&model.header)?;
    } else {
        let mut stdout = std::io::stdout().lock();
        for (name, value) in lines(&model.header) {
            writeln!(stdout, "{name:<14} {value}")?;
        }
    }
    Ok(Ended::Done)
}

fn lines(header: &Header) -> Vec<(&'static str, String)> {
    let schema = &header.schema;
    let numbers = |named: &mut dyn Iterator<Item = (&String, &f64)>| {
        named
            .map(|(name, value)| format!("{name} {}", plain(*value)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let columns = schema.columns.iter().map(|column| match &column.content {
        Holds::Numbers => quoted(&column.name),
        Holds::Categories { levels, .. } => {
            format!("{} ({} categories)", quoted(&column.name), levels.len())
        }
    });
    let mut lines = vec![
        ("method", format!("{}, revision {}", header.method, header.revision)),
        ("task", header.task().name().to_owned()),
        ("target", schema.target.name.clone()),
    ];
    if !schema.target.labels.is_empty() {
        lines.push(("classes", some(schema.target.labels.iter().map(|label| quoted(label)))));
    }
    lines.extend([
        ("columns", some(columns)),
        ("data", format!("{} ({} rows)", header.data.file, header.data.rows)),
        ("sha256", header.data.sha256.clone()),
        ("settings", header.settings.to_string()),
        (
            "tuned",
            header
                .tuning
                .as_ref()
                .map_or("no".to_owned(), |tuning| format!("yes, {} fits", tuning.history.len())),
        ),
        ("seed", format!("{}, {} threads", header.seed, header.threads)),
        ("convergence", serde_json::to_string(&header.convergence).unwrap_or_default()),
        (
            "training",
            format!(
                "{} (on {} training rows)",
                numbers(&mut header.training.iter()),
                header.training_rows
            ),
        ),
        ("facts", numbers(&mut header.facts.iter())),
        ("format", format!("{}, written by version {}", header.format, header.library)),
    ]);
    lines
}

fn some(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}
