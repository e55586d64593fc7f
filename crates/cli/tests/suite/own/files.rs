//! Files as people have them.

use super::{place_with, toys};
use crate::place::Ended;
use serde_json::json;
use std::fmt::Write as _;

/// A file as a spreadsheet writes it: a byte-order mark, semicolons, both ends of line, quotes in
/// names, holes, and a column that counts the rows.
#[test]
fn a_file_from_a_spreadsheet_is_read_and_its_traps_are_named() {
    let mut text = "\u{feff}id;\"size, cm\";\"the \"\"colour\"\"\";kind\r\n".to_owned();
    for row in 0..40 {
        let (size, kind) = if row % 2 == 0 { (row, "\"box; big\"") } else { (row + 100, "ball") };
        let size = if row == 7 { "NA".to_owned() } else { format!("{size}.5") };
        write!(text, "{};{size};\"red, dark\";{kind}\r\n", row + 1).unwrap();
    }
    let place = place_with(&[("sheet.csv", &text), ("comma.csv", "a;b\r\n1,5;x\r\n2,5;y\r\n")]);
    let told = place.run("fit --method kernel-ridge --data sheet.csv --out m").with_code(1);
    assert!(told.stderr.contains("sheet.csv:9: column `size, cm` has no value"), "{told:?}");
    let told = place
        .run("fit --method kernel-ridge --data sheet.csv --impute mean --out m --force")
        .with_code(0);
    assert!(told.stderr.contains("column `id` counts the rows"), "{told:?}");
    let told = place
        .run("fit --method kernel-ridge --data sheet.csv --impute mean --drop id --out m --force")
        .with_code(0);
    assert!(!told.stderr.contains("counts the rows"), "{told:?}");
    let info = place.run("info m").with_code(0).stdout;
    assert!(info.contains("\"size, cm\", \"the \"\"colour\"\"\" (1 category)"), "{info}");
    let said = place.run("predict m --data sheet.csv").with_code(0).stdout;
    assert!(said.starts_with("prediction\nbox; big\nball\n"), "{said}");
    let told = place.run("fit --method majority --data comma.csv --out c").with_code(1);
    assert!(
        told.stderr.contains("column `a` holds `1,5`, a number with a comma; write 1.5"),
        "{told:?}"
    );
}

/// What is missing is the user's choice, and the model keeps it.
#[test]
fn texts_that_are_missing_can_be_named() {
    let text = "size,colour,kind\n1,NA,a\n2,none,b\n-999,NA,a\n4,red,b\n5,NA,a\n6,red,b\n";
    let place = place_with(&[("t.csv", text), ("n.csv", "size,colour\n-999,red\n3,none\n")]);
    let fit = "fit --method kernel-ridge --data t.csv --out m --force";
    let told = place.run(fit).with_code(1).stderr;
    let said =
        "t.csv:2: column `colour` has no value: `NA` is read as missing; make that a category";
    assert!(told.contains(said) && told.contains("(--missing LIST)"), "{told}");
    let told = place.run(&format!("{fit} --missing none,-999")).with_code(1).stderr;
    assert!(
        told.contains("t.csv:3: column `colour` has no value: `none` is read as missing"),
        "{told}"
    );
    let named = "--missing none,-999 --impute mean";
    let fitted = place.run(&format!("{fit} {named}")).with_code(0).stdout;
    // The mean of 1, 2, 4, 5 and 6.
    assert!(
        fitted.contains("filled: `size` in 1 row with 3.6000 (mean), `colour` in 1 row with `NA`"),
        "{fitted}"
    );
    let columns = place.run("info m --json").with_code(0).json()["schema"].clone();
    assert_eq!(columns["columns"][1]["content"]["levels"], json!(["NA", "red"]), "{columns}");
    let predicted = place.run("predict m --data n.csv").with_code(0);
    assert!(predicted.stderr.contains("something was missing in 2 of 2 rows"), "{predicted:?}");
}

#[test]
fn every_format_gives_the_same_model_of_the_same_numbers() {
    let place = place_with(&[
        ("a.csv", "u,v,y\n1,2,a\n2,1,b\n3,5,a\n5,3,b\n"),
        ("b.tsv", "\u{feff}u\tv\ty\r\n1\t2\ta\r\n2\t1\tb\r\n\r\n3\t5\ta\r\n5\t3\tb"),
        ("c.txt", "u;v;y\n1;\"2\";a\n2;1;b\n3;5;a\n5;3;b\n"),
        ("d.svm", "0 1:1 2:2\n1 1:2 2:1\n0 1:3 2:5\n1 1:5 2:3\n"),
    ]);
    let predicted = |data: &str, more: &str| {
        place
            .run(&format!("fit --method kernel-ridge --data {data} {more} --out m --force"))
            .with_code(0);
        place.run(&format!("predict m --data {data} {more}")).with_code(0).stdout
    };
    let csv = predicted("a.csv", "");
    assert_eq!(predicted("b.tsv", ""), csv);
    assert_eq!(predicted("c.txt", "--format semicolon"), csv);
    assert_eq!(predicted("d.svm", ""), csv.replace('a', "0").replace('b', "1"));
}

/// What pandas writes: an index without a name before the columns, and a comma at the end.
#[test]
fn columns_without_names_are_used_and_left_out() {
    let index = |rows: std::ops::Range<usize>| {
        let whole = toys(rows.end);
        let lines: Vec<&str> = whole.lines().collect();
        let rows = rows.map(|row| format!("{row},{}\n", lines[row + 1]));
        format!(",{}\n{}", lines[0], rows.collect::<String>())
    };
    let trailing = toys(30).replace('\n', ",\n");
    let place = place_with(&[("index.csv", &index(0..40)), ("trailing.csv", &trailing)]);
    let told = place.run("fit --method kernel-ridge --data index.csv --out m").with_code(0);
    assert!(told.stderr.contains("column `1` counts the rows"), "{told:?}");
    let all = place.run("predict m --data index.csv").with_code(0).stdout;
    assert_eq!(all.lines().count(), 41);
    place.run("evaluate m --data index.csv").with_code(0);
    // Left out at fit time, it may be there or not.
    place.run("fit --method kernel-ridge --data index.csv --drop 1 --out d").with_code(0);
    std::fs::write(place.path("bare.csv"), toys(40)).unwrap();
    let with = place.run("predict d --data index.csv").with_code(0).stdout;
    assert_eq!(place.run("predict d --data bare.csv").with_code(0).stdout, with);
    place.run("evaluate d --data bare.csv").with_code(0);
    place.run("fit --method kernel-ridge --data trailing.csv --out t").with_code(0);
    let info = place.run("info t --json").with_code(0).json();
    assert_eq!(info["schema"]["target"]["name"], "kind");
    place.run("predict t --data trailing.csv").with_code(0);
    place.run("predict t --data bare.csv").with_code(0);
}

/// A name with a blank or a comma is quoted where it is said, and can be said that way.
/// Points that may stand between thousands are read as decimals, with a word.
#[test]
fn points_between_thousands_are_said() {
    let prices = |sign: &str| {
        let mut text = "price;size;kind\n".to_owned();
        for i in 1..40 {
            let price = i * 97;
            let whole = if price < 1000 {
                price.to_string()
            } else {
                format!("{}{sign}{:03}", price / 1000, price % 1000)
            };
            writeln!(text, "{whole};{};{}", i * 7 % 13, ["cheap", "dear"][usize::from(i > 20)])
                .unwrap();
        }
        text
    };
    let place = place_with(&[("p.csv", &prices(".")), ("q.csv", &prices(",").replace(",0", ",1"))]);
    let fit = "fit --method majority --out m --force --data";
    let told = place.run(&format!("{fit} p.csv")).with_code(0).stderr;
    assert!(told.contains("column `price` has whole numbers up to 970, and `1.067`"), "{told}");
    let told = place.run(&format!("{fit} p.csv --decimal ,")).with_code(0).stderr;
    assert!(!told.contains("price"), "{told}");
    place.run(&format!("{fit} q.csv --decimal ,")).with_code(0);
    // Measurements are no prices.
    let place = place_with(&[("m.csv", "x,y\n1.125,a\n2,b\n3.250,a\n250.5,b\n")]);
    assert!(!place.run(&format!("{fit} m.csv")).with_code(0).stderr.contains("thousands"));
}

/// What a model is told of a file: numbers in disguise, labels that were mistyped, columns with a comma in their names.
#[test]
fn a_file_to_predict_is_refused_with_what_to_do() {
    let text =
        "\"size, cm\";colour;id;kind\n1,5;red;1;Yes\n2,5;blue;2;no\n1,0;red;3;Yes\n3,5;blue;4;no\n";
    let new = "\"size, cm\";colour;id\n1,5;red;1\n";
    let place = place_with(&[
        ("t.csv", text),
        ("comma.csv", new),
        ("red.csv", &new.replace("1,5;red", "2;Red.")),
        ("labels.csv", &text.replace(";no", ";No").replace(',', ".").replace(". ", ", ")),
    ]);
    place.run("fit --method krr --data t.csv --decimal , --drop id --out m").with_code(0);
    let told = place.run("predict m --data comma.csv --drop id").with_code(1).stderr;
    assert!(told.contains("write 1.5, or read all numbers so (--decimal ,)"), "{told}");
    place.run("predict m --data comma.csv --drop id --decimal ,").with_code(0);
    let told = place.run("predict m --data red.csv --drop id").with_code(1).stderr;
    assert!(told.contains("category `Red.`") && told.contains("did you mean `red`?"), "{told}");
    let told = place.run("evaluate m --data labels.csv").with_code(1).stderr;
    assert!(told.contains("class `No`") && told.contains("did you mean `no`?"), "{told}");
    let mut command = place.command("predict m --data comma.csv --decimal , --drop id");
    command.args(["--keep", "size, cm"]);
    let kept = Ended::of(&command.output().unwrap()).with_code(0).stdout;
    assert!(kept.starts_with("\"size, cm\",prediction\n"), "{kept}");
    // Several columns that the model does not know, one of them with a comma, are left out as the error says.
    let wider = new.replace("colour;id", "colour;\"a, b\";id").replace("red;1", "red;0;1");
    std::fs::write(place.path("wider.csv"), wider).unwrap();
    let told = place.run("predict m --data wider.csv --decimal ,").with_code(1).stderr;
    assert!(told.contains("(--drop 'a, b')"), "{told}");
    // A whole number that another program wrote with decimals.
    std::fs::write(place.path("n.csv"), "i,t\n1,1\n2,0\n3,1\n4,0\n").unwrap();
    std::fs::write(place.path("f.csv"), "i,t\n1,1.0\n2,0.0\n").unwrap();
    place.run("fit --method krr --data n.csv --out n").with_code(0);
    let told = place.run("evaluate n --data f.csv").with_code(1).stderr;
    assert!(told.contains("class `1.0` was not seen at fit time; did you mean `1`?"), "{told}");
    // Two names in one word are two columns, as before.
    let both =
        place.run("predict m --data comma.csv --decimal , --keep id,colour").with_code(0).stdout;
    assert!(both.starts_with("id,colour,prediction\n"), "{both}");
}

/// What stands before the table does not tell its separator.
#[test]
fn the_separator_is_that_of_the_table() {
    let place = place_with(&[
        ("a.csv", "junk\nx;y;t\n1,5;2;a\n2,3;3;b\n3;1;a\n"),
        ("b.csv", "Report of May; draft\nx,y,t\n1,2,a\n2,3,b\n3,1,a\n"),
        ("c.csv", "%junk, a\nx;y;t\n1;2;a\n2;3;b\n3;1;a\n"),
    ]);
    for line in ["a.csv --skip 1 --decimal ,", "b.csv --skip 1", "c.csv --comment %"] {
        let told = place.run(&format!("fit --method majority --out m --force --data {line}"));
        assert!(told.with_code(0).stdout.contains("target `t`, 2 inputs"), "{line}");
    }
    let prices: String = (0..40)
        .map(|row| format!("€ {},50;{}\n", row % 20, row % 2))
        .fold("price;kind\n".to_owned(), |text, line| text + &line);
    let sizes = prices.replace('€', "").replace(",50", " kg");
    let place = place_with(&[("p.csv", &prices), ("s.csv", &sizes)]);
    let told = place.run("fit --method majority --data p.csv --out m").with_code(1).stderr;
    assert!(told.contains("`€ 0,50`, a number with a sign"), "{told}");
    let told = place.run("fit --method majority --data s.csv --out m").with_code(0).stderr;
    assert!(told.contains("20 categories are numbers with a word (`0 kg`)"), "{told}");
}

/// Lines before the table are counted, whatever their number.
#[test]
fn lines_before_a_table_are_skipped_as_the_error_says() {
    let rows = "a,b,k\n1,2,x\n3,4,y\n5,6,x\n7,1,y\n";
    for title in ["Report\n", "Report, 2024\n", "Exported\nUser: me\n\n"] {
        let place = place_with(&[("t.csv", &format!("{title}{rows}"))]);
        let told = place.run("fit --method majority --data t.csv --out m").with_code(1).stderr;
        let (_, flag) = told.split_once("(--skip ").unwrap_or_else(|| panic!("{told}"));
        let lines = flag.split(')').next().unwrap();
        place
            .run(&format!("fit --method majority --data t.csv --out m --skip {lines}"))
            .with_code(0);
    }
}

/// Where `NA` is a category, so is an empty field: the fit had none, and what to do is that of any other.
#[test]
fn an_empty_field_of_a_column_that_keeps_na_is_a_category_not_seen() {
    let text = "size,colour,kind\n1,NA,a\n2,blue,b\n3,NA,a\n4,blue,b\n5,NA,a\n6,blue,b\n";
    let place = place_with(&[("t.csv", text), ("n.csv", "size,colour\n1,NA\n3,\n")]);
    place.run("fit --method kernel-ridge --data t.csv --keep-na colour --out m").with_code(0);
    let told = place.run("predict m --data n.csv").with_code(1).stderr;
    assert!(
        told.contains("n.csv:3: category `(missing)` in column `colour` was not seen"),
        "{told}"
    );
    let zeros = place.run("predict m --data n.csv --unknown zeros").with_code(0).stdout;
    assert_eq!(zeros.lines().count(), 3, "{zeros}");
    let skipped = place.run("predict m --data n.csv --unknown skip").with_code(0).stdout;
    assert_eq!(skipped.lines().count(), 2, "{skipped}");
    // So it is where a missing category is one of its own.
    let whole = text.replace("NA", "red");
    let place = place_with(&[("t.csv", &whole), ("n.csv", "size,colour\n3,\n")]);
    place.run("fit --method kernel-ridge --data t.csv --impute category --out m").with_code(0);
    let told = place.run("predict m --data n.csv").with_code(1).stderr;
    assert!(told.contains("category `(missing)` in column `colour` was not seen"), "{told}");
}

#[test]
fn names_are_said_as_they_are_typed() {
    let mut text = "patient id,\"size, cm\",kind\n".to_owned();
    for row in 0..30 {
        writeln!(text, "{row},{}.5,{}", row % 7, ["u", "v"][row % 2]).unwrap();
    }
    let place = place_with(&[("t.csv", &text)]);
    let told = place.run("fit --method majority --data t.csv --out m").with_code(0);
    assert!(told.stderr.contains("--drop 'patient id'"), "{told:?}");
    let mut command = place.command("fit --method majority --data t.csv --out n --json");
    command.args(["--drop", "patient id"]);
    let json = Ended::of(&command.output().unwrap()).with_code(0).json();
    assert_eq!(json["schema"]["columns"][0]["name"], "size, cm");
    let mut command = place.command("fit --method majority --data t.csv --out o --json");
    command.args(["--categorical", "size, cm", "--drop", "patient id"]);
    let json = Ended::of(&command.output().unwrap()).with_code(0).json();
    assert_eq!(json["schema"]["columns"][0]["content"]["holds"], "categories");
}

/// Words, the status that they end with, and what is said.
const REFUSED: &[(&str, i32, &str)] = &[
    ("fit --method majority --data constant.csv", 1, "`x` in all 3 rows"),
    ("fit --method mean --data level.csv --task regression", 1, "2.5 in all 3 rows"),
    (
        "fit --method majority --data lost.csv",
        1,
        "lost.csv:3: the target (column `y`) is missing; remove the row",
    ),
    (
        "fit --method majority --data text.csv",
        1,
        "text.csv:3: `two` in column `a` is not a number (2 of 3 entries are); correct it",
    ),
    ("fit --method majority --data infinite.csv", 1, "infinite.csv:3: `inf` in column `a`"),
    (
        "fit --method majority --data hole.csv",
        1,
        "hole.csv:3: column `a` has no value; fill it (--impute",
    ),
    (
        "fit --method majority --data ragged.csv",
        1,
        "ragged.csv:3: has 1 field, expected 2; add empty fields",
    ),
    ("fit --method majority --data open.csv", 1, "open.csv:2: opens a quote that never closes"),
    ("fit --method majority --data empty.csv", 1, "empty.csv: holds no rows"),
    ("fit --method majority --data bytes.csv", 1, "bytes.csv:2: holds a byte 0"),
    ("fit --method majority --data one.csv", 1, "one.csv"),
    ("fit --method majority --data words.json", 1, "holds no columns"),
    ("fit --method majority --data gone.csv", 4, "gone.csv: no such file"),
    ("fit --method majority --data toys.csv --target hue", 2, "has no column `hue` (--target)"),
    ("fit --method majority --data toys.csv --drop hue", 2, "has no column `hue` (--drop)"),
    (
        "fit --method majority --data toys.csv --target size",
        2,
        "`majority` cannot do regression; these can: ",
    ),
    ("fit --method askk --data toys.csv", 2, "unknown method `askk`"),
    ("fit --method askl --data toys.csv --set featurs=9", 2, "featurs"),
    ("fit --method askl --data toys.csv --set features=0", 2, "features"),
    ("fit --method askl --data toys.csv --set features", 2, "NAME=VALUE"),
    ("fit --method askl --data toys.csv --scale minmax", 2, "minmax"),
    ("fit --method askl --data toys.csv --tune --budget 0", 2, "`budget` is `0`"),
    ("tune --method askl --data toys.csv --budget 0s", 2, "`budget` is `0s`"),
    (
        "fit --method majority --data toys.csv --out exists.model",
        2,
        "exists; choose another name, or overwrite it with --force",
    ),
    ("predict toys.model --data toys.csv --out exists.model", 2, "--force"),
    ("compare --methods majority,kernel-ridge --data toys.csv --report exists.model", 2, "--force"),
    ("compare --methods majority --data toys.csv", 2, "at least two"),
    ("compare --methods majority,majority --data toys.csv", 2, "named once"),
    ("evaluate --method majority --data toys.csv --folds 1", 2, "`folds` is 1"),
    (
        "evaluate --method majority --data toys.csv --folds 13",
        2,
        "at most 12: the table has 12 rows",
    ),
    (
        "evaluate --method majority --data four.csv",
        2,
        "`folds` is 5 by default; it must be at least 2 and at most 4: the table has 4 rows; add --folds N",
    ),
    ("compare --methods majority,kernel-ridge --data four.csv", 2, "`folds` is 5 by default"),
    ("tune --method kernel-ridge --data four.csv", 2, "`rows` is 4; it must be at least 5 to tune"),
    ("evaluate --method majority --data singles.csv", 2, "every class has a single row"),
    ("fit --method majority --data toys.csv --out /proc/a.model", 1, "no file can be made in"),
    ("fit --method majority --data packed.csv.xz --out a.model", 1, "does not begin as xz does"),
    ("evaluate --method majority --data toys.csv --holdout 1.5", 2, "above 0 and below 1"),
    ("evaluate --method majority --data toys.csv --repeats 0", 2, "`repeats` is 0"),
    ("evaluate --data toys.csv", 2, "--method"),
    ("predict toys.model --data fewer.csv", 1, "has no column `weight`"),
    ("predict toys.model --data green.csv", 1, "category `green` in column `colour` was not seen"),
    ("predict wide.model --data toys.csv", 1, "has no column `c0`"),
    ("predict gone.model --data toys.csv", 4, "gone.model: No such file"),
    ("predict exists.model --data toys.csv", 1, "exists.model is text, not a model"),
    ("info toys.csv", 1, "toys.csv is text, not a model"),
    ("info gone.model", 4, "gone.model: No such file"),
    ("evaluate gone.model --data toys.csv", 4, "gone.model: No such file"),
    ("compare --methods majority,mean --data toys.csv,gone.csv", 4, "gone.csv: no such file"),
    ("tune --method kernel-ridge --data gone.csv", 4, "gone.csv: no such file"),
    ("bound askl-rate --model gone.model", 4, "gone.model: No such file"),
    ("bound askl-rate --from gone.json", 4, "gone.json: No such file"),
    ("fit --method majority --data toys.csv --drop kind", 2, "it is the target"),
    (
        "fit --method mean --data thousand.csv --task regression",
        1,
        "write 12.345 if the comma begins the decimals, 12345 if it stands between thousands",
    ),
    ("evaluate toys.model --data green.csv", 1, "has no column `kind`, the target"),
];

/// Each bad input ends with its status and says what to do.
#[test]
fn what_cannot_be_used_is_named_with_its_place_and_a_remedy() {
    let good = toys(12);
    let wide: Vec<String> = (0..100_001).map(|at| format!("c{at}")).collect();
    let wide = format!("{1},y\n{0}1\n{0}2\n{0}1\n{0}2\n", "1,".repeat(100_001), wide.join(","));
    let place = place_with(&[
        ("toys.csv", &good),
        ("constant.csv", "a,y\n1,x\n2,x\n3,x\n"),
        ("singles.csv", "a,y\n1,p\n2,q\n3,r\n4,s\n"),
        ("four.csv", "a,y\n1,p\n2,q\n3,p\n4,q\n"),
        ("packed.csv.xz", "a,y\n1,x\n2,z\n"),
        ("level.csv", "a,y\n1,2.5\n2,2.5\n3,2.5\n"),
        ("lost.csv", "a,y\n1,x\n2,\n3,z\n"),
        ("text.csv", "a,y\n1,x\ntwo,z\n3,x\n"),
        ("infinite.csv", "a,y\n1,x\ninf,z\n3,x\n"),
        ("hole.csv", "a,y\n1,x\n,z\n3,x\n"),
        ("ragged.csv", "a,y\n1,x\n2\n"),
        ("open.csv", "a,y\n1,\"x\n2,z\n"),
        ("empty.csv", ""),
        ("bytes.csv", "a,y\n1,\u{0}\n"),
        ("one.csv", "a,y\n1,x\n"),
        ("wide.csv", &wide),
        ("fewer.csv", "size,colour\n1,red\n"),
        ("green.csv", "size,weight,colour\n1,2,green\n"),
        ("words.json", "{}"),
        ("thousand.csv", "a;y\n12,345;1\n1,000;2\n"),
        ("exists.model", "x"),
    ]);
    place.run("fit --method majority --data toys.csv --out toys.model").with_code(0);
    place.run("fit --method majority --data wide.csv --out wide.model").with_code(0);
    for &(line, code, told) in REFUSED {
        let ended = place.run(line);
        assert_eq!(ended.code, Some(code), "`{line}`: {ended:?}");
        assert!(ended.stderr.contains(told), "`{line}` should say {told}: {}", ended.stderr);
        assert!(ended.stdout.is_empty() || line.starts_with("predict"), "`{line}`: {ended:?}");
    }
    assert_eq!(std::fs::read(place.path("exists.model")).unwrap(), b"x", "nothing was overwritten");
    assert!(!place.path("model.safetensors").exists(), "a refused fit leaves nothing");
}

/// What was decided about a file by its look is said, with the flag that decides otherwise.
#[test]
fn guesses_are_said() {
    let years: Vec<String> = (0..12)
        .map(|row| format!("{row}.25,{}.5,{}\n", 2 * row % 7, ["u", "v"][row % 2]))
        .collect();
    let codes: Vec<String> =
        (0..30).map(|row| format!("00{},{row}.5,{}\n", row % 7 + 100, row % 4)).collect();
    let place = place_with(&[
        ("years.csv", &format!("2019,2020,2021\n{}", years.concat())),
        ("words.csv", "red,box\nblue,ball\nred,box\nblue,box\n"),
        ("codes.csv", &format!("zip,size,rooms\n{}", codes.concat())),
        ("sheet.csv", "sep=;\r\na;kind\r\n1;u\r\n2;v\r\n"),
        ("remark.csv", "# 12 May: by hand\na,kind\n1,u\n2,v\n"),
    ]);
    for (words, told) in [
        ("--data years.csv", "years.csv: the first row (2019, 2020, 2021) is read as column names"),
        ("--data years.csv", "use --header no if it is data"),
        ("--data words.csv", "because `red` occurs again below it; use --header yes"),
        ("--data codes.csv", "column `zip` is read as numbers, 00100 as 100;"),
        (
            "--data codes.csv",
            "target `rooms`: 4 different whole numbers in 30 rows (0, 1, 2, 3) are taken for classes",
        ),
        ("--data remark.csv", "remark.csv: a line that begins with # is skipped"),
    ] {
        let ended =
            place.run(&format!("fit --method majority {words} --out m --force")).with_code(0);
        assert!(ended.stderr.contains(told), "{words} should say {told}: {}", ended.stderr);
    }
    // What was said goes away with the answer.
    for words in ["years.csv --header yes", "words.csv --header no"] {
        let line = format!("fit --method majority --data {words} --out m --force");
        let ended = place.run(&line).with_code(0);
        assert!(!ended.stderr.contains("first row"), "{words}: {}", ended.stderr);
    }
    let line = "fit --method majority --data codes.csv --categorical zip --task classification --out m --force";
    let ended = place.run(line).with_code(0);
    assert!(ended.stderr.is_empty(), "{}", ended.stderr);
    let json =
        place.run("fit --method majority --data sheet.csv --out s --json").with_code(0).json();
    assert_eq!(json["schema"]["columns"][0]["name"], "a");
    assert_eq!(json["data"]["rows"], 2);
}

/// Columns of svmlight are read by their numbers; a file that is numbered in the other way is refused.
#[test]
fn a_model_knows_how_its_columns_are_numbered() {
    let rows = |first: usize, count: usize| -> String {
        let row = |at: usize| format!("{} {first}:{}.5 {}:{}\n", at % 2, at % 5, first + 1, at % 3);
        (0..count).map(row).collect()
    };
    let place = place_with(&[
        ("zero.svm", &rows(0, 40)),
        ("one.svm", &rows(1, 40)),
        ("few.svm", "1 1:2\n"),
        ("marked.svm", "0 0:0 1:2\n0 1:3\n"),
    ]);
    for (name, first) in [("zero", 0), ("one", 1)] {
        let told = place
            .run(&format!("fit --method kernel-ridge --data {name}.svm --out {name}"))
            .with_code(0);
        let expected = format!("columns are numbered from {first}, as in the file (40 of 40 rows");
        assert!(told.stdout.contains(&expected), "{told:?}");
        let info = place.run(&format!("info {name}")).with_code(0).stdout;
        assert!(info.contains(&format!("numbered       from {first}")), "{info}");
        let json = place.run(&format!("info {name} --json")).with_code(0).json();
        assert_eq!(json["schema"]["numbering"]["first"], first);
        let said = place.run(&format!("predict {name} --data {name}.svm")).with_code(0);
        assert!(said.stderr.contains(&format!("read as numbered from {first}")), "{said:?}");
    }
    let told = place.run("predict zero --data one.svm").with_code(1);
    assert!(told.stderr.contains("its columns seem to be numbered from 1"), "{told:?}");
    place.run("evaluate zero --data one.svm").with_code(1);
    let told = place.run("predict one --data zero.svm").with_code(1);
    assert!(told.stderr.contains("number the columns from 1"), "{told:?}");
    // A single row may lack it.
    let told = place.run("predict zero --data few.svm").with_code(0);
    assert!(told.stderr.contains("no row has column 0"), "{told:?}");
    let told = place.run("predict zero --data marked.svm").with_code(0);
    assert!(!told.stderr.contains("no row has"), "{told:?}");
}

/// How much was filled, with what, and which settings were chosen by whom.
#[test]
fn a_model_says_what_was_filled_and_what_was_given() {
    let mut text = "a,colour,y\n".to_owned();
    for row in 0..30 {
        let a = if row % 10 == 3 { String::new() } else { format!("{row}.5") };
        let colour = if row == 4 { "NA" } else { ["red", "red", "blue"][row % 3] };
        writeln!(text, "{a},{colour},{}", ["u", "v"][row % 2]).unwrap();
    }
    let place = place_with(&[("t.csv", &text)]);
    let line = "fit --method kernel-ridge --data t.csv --impute median --set lambda=0.01 --out m";
    let told = place.run(line).with_code(0);
    let filled =
        "filled: `a` in 3 rows with 15.5000 (median), `colour` in 1 row with `red` (most frequent)";
    assert!(told.stdout.contains(filled), "{told:?}");
    let info = place.run("info m").with_code(0).stdout;
    for part in [
        &filled.replace("filled: ", "filled         "),
        "lambda 0.01 (given), ",
        "std 0.",
        "(default)",
        "scaled         standard",
    ] {
        assert!(info.contains(part), "{part}: {info}");
    }
    let json = place.run("info m --json").with_code(0).json();
    assert_eq!(json["chosen"]["given"], serde_json::json!(["lambda"]));
    assert_eq!(json["preparation"]["missing"], serde_json::json!([3, 1]));
    // Complete: each setting of the method is there.
    let listed = place.run("list methods kernel-ridge --json").with_code(0).json();
    for setting in listed["settings"].as_array().unwrap() {
        let name = setting["setting"].as_str().unwrap();
        assert!(json["settings"].as_object().unwrap().contains_key(name), "{name}");
    }
    let said = place.run("predict m --data t.csv").with_code(0);
    assert!(said.stderr.contains("something was missing in 4 of 30 rows"), "{said:?}");
    let said =
        place.run("evaluate --method kernel-ridge --data t.csv --impute mean --json").with_code(0);
    assert!(
        said.stderr.contains("of the training rows: `a` in 3 rows, `colour` in 1 row"),
        "{said:?}"
    );
}

/// Written by `pyarrow.ipc.new_file` of pyarrow 26.0.1, whose texts have offsets of 32 bits.
#[test]
fn texts_of_pyarrow_are_read() {
    let place = place_with(&[]);
    std::fs::write(place.path("texts.arrow"), include_bytes!("pyarrow.arrow")).unwrap();
    let told = place.run("fit --method kernel-ridge --data texts.arrow --out m.st").with_code(0);
    assert!(told.stdout.contains("fitted to 6 rows"), "{told:?}");
    assert!(told.stdout.contains("classification, target `kind`"), "{told:?}");
}
