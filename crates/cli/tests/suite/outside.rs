//! Programs as methods, from the command line.

use crate::place::Place;

const DECLARED: &str = r#"
[method.first]
command = ["python3", "first.py"]
tasks = ["classification"]
data = "csv"

[method.broken]
command = ["python3", "broken.py"]
tasks = ["classification"]
"#;

/// Answers the class of the first row that it was given.
const FIRST: &str = r#"
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
request = json.loads((folder / "request.json").read_text())
lines = (folder / request["data"]).read_text().split()[1:]
if request["action"] == "fit":
    (folder / "class").write_text(lines[0].split(",")[-1])
else:
    answer = (folder / "class").read_text()
    (folder / request["predictions"]).write_text("\n".join(["class"] + [answer] * len(lines)))
"#;

fn place() -> Place {
    let place = Place::new();
    std::fs::write(place.path("methods.toml"), DECLARED).unwrap();
    std::fs::write(place.path("first.py"), FIRST).unwrap();
    std::fs::write(place.path("broken.py"), "raise SystemExit('out of luck')").unwrap();
    let rows: Vec<String> =
        (0..40).map(|i| format!("{},{}", i, if i % 4 == 0 { "red" } else { "blue" })).collect();
    std::fs::write(place.path("t.csv"), format!("x,k\n{}\n", rows.join("\n"))).unwrap();
    place
}

#[test]
fn compare_has_programs_beside_ours_and_a_failure_costs_nothing_else() {
    let place = place();
    let line = "compare --methods first,majority,broken --data t.csv --methods-from methods.toml";
    let ended = place.run(line).with_code(3);
    assert!(
        ended.stderr.contains("broken failed: the program failed: exit status: 1: out of luck")
    );
    for row in ["first ", "majority ", "broken    failed"] {
        assert!(ended.stdout.contains(row), "{row}: {ended:?}");
    }
}

#[test]
fn a_kept_model_needs_its_file_and_says_so() {
    let place = place();
    let from = "--methods-from methods.toml";
    place.run(&format!("fit --method first --data t.csv --out m {from}")).with_code(0);
    let predicted = place.run(&format!("predict --model m --data t.csv {from}")).with_code(0);
    assert_eq!(predicted.stdout.lines().nth(1), Some("red"), "{predicted:?}");
    let refused = place.run("predict --model m --data t.csv");
    let refused = refused.with_code(1);
    assert!(refused.stderr.contains("add --methods-from FILE"), "{refused:?}");
}

#[test]
fn a_file_that_describes_no_method_is_wrong_usage() {
    let place = place();
    std::fs::write(place.path("taken.toml"), DECLARED.replace("first", "askl")).unwrap();
    std::fs::write(place.path("empty.toml"), "").unwrap();
    for (file, says) in [
        ("taken.toml", "there is a method `askl` already"),
        ("empty.toml", "missing field `method`"),
        ("none.toml", "cannot read none.toml"),
    ] {
        let refused = place.run(&format!("list methods --methods-from {file}"));
        let refused = refused.with_code(2);
        assert!(refused.stderr.contains(says), "{refused:?}");
    }
}

#[test]
fn baseline_check_names_the_law_that_a_program_breaks() {
    let place = place();
    let broken = DECLARED.split("\n\n").last().unwrap();
    std::fs::write(place.path("broken.toml"), broken).unwrap();
    let checked = place.run("baseline check broken.toml");
    let checked = checked.with_code(3);
    assert!(checked.stdout.starts_with("`broken` breaks a law"), "{checked:?}");
    assert!(checked.stdout.contains("out of luck"), "{checked:?}");
}
