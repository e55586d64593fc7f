use super::args::PredictArgs;
use super::{may_write, open, threads};
use crate::Ended;
use anyhow::Context;
use mercer_experiments::registry;
use mercer_workbench::{Model, Predicted, WorkbenchError};
use ndarray::Array2;
use serde_json::json;
use std::io::{BufWriter, Write};

/// Rows predicted at a time.
const CHUNK: usize = 16_384;

pub(crate) fn run(args: &PredictArgs) -> anyhow::Result<Ended> {
    let methods = registry();
    let path = args.model.as_ref().or(args.model_flag.as_ref()).context("MODEL is missing")?;
    if let Some(out) = &args.out {
        may_write(out, args.force)?;
    }
    let model = Model::load(path, &methods)?;
    let file = open(&args.data, args.format)?;
    let Some(out) = &args.out else {
        let stdout = BufWriter::new(std::io::stdout().lock());
        write_all(&model, &file, args, stdout)?;
        return Ok(Ended::Done);
    };
    // Whole or not at all.
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(std::path::Path::new("."));
    let mut kept =
        tempfile::NamedTempFile::new_in(folder).with_context(|| folder.display().to_string())?;
    let rows = write_all(&model, &file, args, BufWriter::new(kept.as_file_mut()))?;
    kept.persist(out).map_err(|error| error.error).with_context(|| out.display().to_string())?;
    tracing::info!("{rows} predictions in {}", out.display());
    Ok(Ended::Done)
}

fn write_all(
    model: &Model,
    file: &mercer_datasets::RowFile,
    args: &PredictArgs,
    mut to: impl Write,
) -> anyhow::Result<usize> {
    let schema = &model.header.schema;
    let labels = &schema.target.labels;
    let threads = threads(args.threads);
    if args.proba {
        // Said before anything is written.
        let none = Array2::zeros((0, schema.width()));
        if labels.is_empty() {
            let (method, why) = (model.header.method.clone(), " of numbers");
            return Err(WorkbenchError::NoProbabilities { method, why }.into());
        }
        model.probabilities(none, file.name(), &[], 1)?;
    }
    let mut reading = schema.read(file)?;
    if args.json {
        writeln!(to, "[")?;
    } else {
        let mut heads = vec!["prediction".to_owned()];
        if args.proba {
            heads.extend(labels.iter().map(|label| quoted(&format!("p({label})"))));
        }
        writeln!(to, "{}", heads.join(","))?;
    }
    let mut count = 0;
    loop {
        let (raw, _, lines) = reading.chunk(CHUNK, false)?;
        if lines.is_empty() {
            break;
        }
        let shares = if args.proba {
            Some(model.probabilities(raw.clone(), file.name(), &lines, threads)?)
        } else {
            None
        };
        let predicted = model.predict(raw, file.name(), &lines, threads)?;
        for row in 0..lines.len() {
            let shares = shares.as_ref().map(|shares| shares.row(row));
            if args.json {
                let comma = if count > 0 { "," } else { " " };
                let prediction = match &predicted {
                    Predicted::Classes(classes) => json!(labels[classes[row] as usize]),
                    Predicted::Values(values) => json!(values[row]),
                };
                let mut object =
                    serde_json::Map::from_iter([("prediction".to_owned(), prediction)]);
                if let Some(shares) = shares {
                    let named = labels.iter().zip(shares).map(|(l, &p)| (l.clone(), json!(p)));
                    object.insert(
                        "probabilities".to_owned(),
                        json!(named.collect::<serde_json::Map<_, _>>()),
                    );
                }
                writeln!(to, "{comma}{}", serde_json::Value::Object(object))?;
            } else {
                match &predicted {
                    Predicted::Classes(classes) => {
                        write!(to, "{}", quoted(&labels[classes[row] as usize]))?;
                    }
                    Predicted::Values(values) => write!(to, "{}", values[row])?,
                }
                for share in shares.iter().flatten() {
                    write!(to, ",{share}")?;
                }
                writeln!(to)?;
            }
            count += 1;
        }
    }
    if args.json {
        writeln!(to, "]")?;
    }
    to.flush()?;
    if count == 0 {
        anyhow::bail!("{}: holds no rows", file.name());
    }
    Ok(count)
}

/// A field of CSV.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
