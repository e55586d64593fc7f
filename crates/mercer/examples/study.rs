//! Your own study: a specification, its trials, their records, and what came out.

use mercer::harness::{Options, Runner, Selection, Silent, Spec, Stop, plan, run};
use mercer::records::Store;
use mercer::{datasets::Library, methods};
use std::error::Error;
use std::path::Path;

const STUDY: &str = r#"
artefact = "mine/iris"
question = "Is a learned kernel better than a drawn one on iris?"
seed = 1
repeats = 5
datasets = ["iris"]

[protocol]
split = { kind = "random", train = 0.8 }

[[variants]]
name = "given"
summary = "with the defaults"
methods = [{ name = "sk" }, { name = "skl" }, { name = "majority" }]
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let methods = methods();
    let spec = Spec::parse(STUDY, Path::new("mine"))?;
    let trials = plan(&spec, &methods, "paper", &Selection::default(), &|_| None)?;
    let folder = tempfile::tempdir()?;
    let store = Store::open(folder.path())?;
    let runner = Runner::new(&methods, Library::discover(None)?, store.clone(), Stop::default());
    let summary = run(&trials, &runner, &Options { jobs: 1, ..Options::default() }, &Silent)?;
    println!("{} trials run", summary.carried_out);
    for record in store.list()?.records {
        let accuracy = record.result.metrics.get("accuracy").copied().unwrap_or(f64::NAN);
        println!("{} repeat {}: {accuracy:.3}", record.key.method, record.key.repeat + 1);
    }
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
