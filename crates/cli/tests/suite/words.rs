//! What is said of a user's own file, word by word: every message keeps to its line, says what is
//! there, and what can be done.

use crate::place::Place;
use std::fmt::Write as _;
use std::process::Command;

fn place_with(files: &[(&str, &str)]) -> Place {
    let place = Place::new();
    for (name, text) in files {
        std::fs::write(place.path(name), text).unwrap();
    }
    place
}

/// Two kinds by two sizes, a colour and a name.
fn toys(rows: usize) -> String {
    let mut text = "size,weight,colour,kind\n".to_owned();
    for i in 0..rows {
        let wave = |k: usize| ((i * k) as f64 * 0.618).sin();
        let (shift, colour, kind) = [(2.0, "red", "box"), (-2.0, "blue", "ball")][i % 2];
        writeln!(text, "{:.3},{:.3},{colour},{kind}", shift + wave(31), wave(17)).unwrap();
    }
    text
}

/// A command line that ends badly: the status, and what is said in one line.
fn says(place: &Place, line: &str, code: i32, told: &[&str]) {
    let ended = place.run(line);
    assert_eq!(ended.code, Some(code), "`{line}`: {ended:?}");
    let error = ended.stderr.lines().find(|line| line.starts_with("error: "));
    let error = error.unwrap_or_else(|| panic!("`{line}`: {ended:?}"));
    // Notes on the file may follow.
    let after = ended.stderr.lines().skip_while(|line| *line != error).skip(1);
    let notes = after.clone().all(|line| line.starts_with(" INFO ") || line.starts_with(" WARN "));
    assert!(notes, "one line, before the notes: {ended:?}");
    for told in told {
        assert!(error.contains(told), "`{line}` should say {told}: {error}");
    }
}

/// A column slip ends with the nearest column, or with what there is.
#[test]
fn a_column_that_is_not_there_is_answered_by_the_nearest() {
    let place =
        place_with(&[("toys.csv", &toys(20)), ("bare.csv", "1,2,0\n3,4,1\n5,6,0\n7,8,1\n")]);
    let fit = "fit --method majority --data toys.csv";
    for (rest, told) in [
        (
            "--target knid",
            "has no column `knid` (--target); did you mean `kind`? its columns are `size`",
        ),
        ("--target KIND", "did you mean `kind`?"),
        ("--target col", "did you mean `colour`?"),
        ("--drop wieght", "did you mean `weight`?"),
        ("--drop size,wight", "did you mean `weight`?"),
        ("--categorical sise", "did you mean `size`?"),
        ("--target 4", "where they have names, they go by these: 4 is `kind`"),
        (
            "--target hue",
            "has no column `hue` (--target); its columns are `size`, `weight`, `colour`, `kind`",
        ),
    ] {
        says(&place, &format!("{fit} {rest}"), 2, &[told]);
    }
    let bare = "fit --method majority --data bare.csv --header no --target";
    says(&place, &format!("{bare} 4"), 2, &["no header, and no column `4`", "numbered from 1"]);
}

/// A file of other columns than the model's, and a row of other fields than the first, with a remedy.
#[test]
fn columns_and_rows_that_do_not_fit_have_a_remedy() {
    let place = place_with(&[
        ("toys.csv", &toys(20)),
        ("bare.csv", "1.5,2,red\n2.5,3,blue\n"),
        ("slip.csv", "size,wieght,colour\n1,2,red\n"),
        ("less.csv", "size,colour\n1,red\n"),
        ("twice.csv", "size,weight,size,colour\n1,2,3,red\n"),
        ("semi.csv", "size;weight;colour\n1;2;red\n"),
        ("words.csv", "size weight colour\n1 2 red\n"),
        ("plain.csv", "1,2,0\n3,4,1\n5,6,0\n7,8,1\n"),
        ("wide.csv", "1,2,3,4\n"),
        ("narrow.csv", "1\n"),
        ("head.csv", "a,b\n1,2\n"),
        ("rows.svm", "1 1:2\n"),
    ]);
    place.run("fit --method majority --data toys.csv --out m").with_code(0);
    place.run("fit --method majority --data plain.csv --header no --out bare").with_code(0);
    for (line, told) in [
        (
            "predict m --data bare.csv",
            "its first row begins with `1.5`, `2`, `red`: if that is data, write the names of the columns \
             above it: `size`, `weight`, `colour`",
        ),
        (
            "predict m --data slip.csv",
            "has no column `weight`, which the model was fitted on; is it its column `wieght`?",
        ),
        (
            "predict m --data less.csv",
            "has no column `weight`, which the model was fitted on; add it, or fit again",
        ),
        ("predict m --data twice.csv", "has two columns called `size`; remove one, or rename it"),
        ("predict m --data words.csv", "is the separator right? (--separator blanks)"),
        ("predict m --data semi.csv --format csv", "is the separator right?"),
        ("predict m --data rows.svm", "write the rows as those of the fit, or fit again"),
        (
            "predict bare --data wide.csv",
            "has 4 columns, but the model was fitted on 2 (3 with the target); give it",
        ),
        ("predict bare --data narrow.csv", "has 1 column, but the model was fitted on 2"),
        (
            "predict bare --data head.csv",
            "if the first row names the columns, take it away: the model knows none",
        ),
    ] {
        says(&place, line, 1, &[told]);
    }
    place.run("predict m --data semi.csv").with_code(0);
}

/// A name, a class or a category may hold the end of a line, a bell or the commands of a terminal.
#[test]
fn no_name_breaks_a_line() {
    let mut text = "\"the\nsize\",\"the\tcolour\",kind\n".to_owned();
    for i in 0..20 {
        let (colour, kind) = [("red\nor so", "a\u{1b}[31mbox"), ("blue", "ball\r\nbig")][i % 2];
        writeln!(text, "{i}.5,\"{colour}\",\"{kind}\"").unwrap();
    }
    let other = "\"the\nsize\",\"the\tcolour\"\n1,\"green\nor so\"\n";
    let lost = "\"the\nheight\",\"the\tcolour\"\n1,blue\n";
    let broken = format!("{text}oops,blue,\"ball\r\nbig\"\n");
    let place = place_with(&[
        ("toys.csv", &text),
        ("other.csv", other),
        ("lost.csv", lost),
        ("broken.csv", &broken),
    ]);
    let fitted = place.run("fit --method majority --data toys.csv --out m").with_code(0);
    assert_eq!(fitted.stdout.lines().count(), 4, "{fitted:?}");
    says(
        &place,
        "predict m --data other.csv",
        1,
        &[r"category `green\nor so` in column `the\tcolour`", r"seen were `blue`, `red\nor so`"],
    );
    says(&place, "predict m --data lost.csv", 1, &[r"has no column `the\nsize`"]);
    says(&place, "fit --method majority --data broken.csv --out n", 1, &[r"in column `the\nsize`"]);
    says(
        &place,
        "fit --method majority --data toys.csv --target no",
        2,
        &[r"`the\nsize`, `the\tcolour`"],
    );
    let info = place.run("info m").with_code(0).stdout;
    let plain = |text: &str| text.lines().all(|line| !line.contains(|c: char| c.is_control()));
    assert!(plain(&info) && info.contains(r"the\nsize") && info.contains(r"ball\r\nbig"), "{info}");
    assert!(info.lines().all(|line| line.get(14..15) == Some(" ")), "one line a fact: {info}");
    let scored = place.run("evaluate --method majority --data toys.csv --folds 2").with_code(0);
    assert!(plain(&scored.stdout) && plain(&scored.stderr), "{scored:?}");
    // What comes back is what was there, in the quotes of CSV.
    let predicted = place.run("predict m --data toys.csv").with_code(0).stdout;
    assert!(
        predicted.contains("\"ball\r\nbig\"") || predicted.contains("\u{1b}[31mbox"),
        "{predicted}"
    );
}

/// What is no model is called what it is, and what was one is told what became of it.
#[test]
fn a_file_that_is_no_model_is_called_what_it_is() {
    let place = place_with(&[("toys.csv", &toys(20)), ("empty", ""), ("packed.gz", "")]);
    place.run("fit --method kernel-ridge --data toys.csv --out m").with_code(0);
    let whole = std::fs::read(place.path("m")).unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(place.path(name), bytes).unwrap();
    write("packed.gz", &[0x1f, 0x8b, 8, 0]);
    write("table.parquet", b"PAR1....PAR1");
    write("pickle.pt", b"PK\x03\x04\0\0");
    write("short", &whole[..whole.len() / 2]);
    let mut edited = whole.clone();
    *edited.last_mut().unwrap() ^= 1;
    write("edited", &edited);
    let other = br#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    let mut bytes = (other.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(other);
    bytes.extend_from_slice(&[0; 4]);
    write("other.safetensors", &bytes);
    for line in
        ["info", "predict --data toys.csv", "evaluate --data toys.csv", "bound askl-rate --model"]
    {
        let of = |name: &str| format!("{line} {name}");
        says(
            &place,
            &of("toys.csv"),
            1,
            &["toys.csv is text, not a model", "`mercer fit --out MODEL` writes one"],
        );
        says(&place, &of("empty"), 1, &["is empty; copy it again"]);
        says(&place, &of("packed.gz"), 1, &["is compressed; decompress it first"]);
        says(&place, &of("table.parquet"), 1, &["is Parquet, not a model"]);
        says(&place, &of("pickle.pt"), 1, &["of another program", "only what `mercer fit` wrote"]);
        says(&place, &of("other.safetensors"), 1, &["another program wrote it"]);
        says(&place, &of("short"), 1, &["was cut short or damaged", "or fit the model again"]);
        says(&place, &of("edited"), 1, &["its check sum does not match", "or fit the model again"]);
    }
    // The other way about.
    says(&place, "predict m --data other.safetensors", 1, &["is a model, not a table of rows"]);
    std::fs::copy(place.path("m"), place.path("model.csv")).unwrap();
    says(&place, "fit --method majority --data model.csv", 1, &["is a model, not a table of rows"]);
}

/// What people have their rows in beside tables.
#[test]
fn a_file_that_is_no_table_is_called_what_it_is() {
    let place = place_with(&[
        ("rows.xlsx", "PK"),
        ("rows.json", "[]"),
        ("comma.svm", "1,2\n3,4\n"),
        ("page.csv", "\n <!DOCTYPE html>\n<html></html>"),
        ("title.csv", "Sales of 2020\na,y\n1,u\n2,v\n"),
        ("comma.csv", "a,y\n1,u,\n2,v,\n"),
        ("rnames.csv", "a,y\nr1,1,u\nr2,2,v\n"),
        ("more.csv", "a,y\n1,u\n2,v,w,z\n"),
        ("total.csv", "a,b,y\n1,2,u\n3,4,v\nrows: 2\n"),
    ]);
    std::fs::write(place.path("zip.csv"), b"PK\x03\x04\0\0\0\0").unwrap();
    std::fs::write(place.path("parquet.csv"), b"PAR1\0\0").unwrap();
    for (name, told) in [
        ("rows.xlsx", "is a spreadsheet; save its sheet as CSV"),
        ("rows.json", "holds no columns"),
        ("comma.svm", "is this another format (--format csv, say)?"),
        ("page.csv", "is a web page, not a table; fetch the file itself"),
        ("zip.csv", "is a zip archive, or a spreadsheet; unpack it"),
        ("parquet.csv", "is not Parquet, or packed, which Parquet may not be, or cut short"),
        ("title.csv", "has 2 fields, expected 1; if the first row is a title, skip it (--skip 1)"),
        ("comma.csv", "comma.csv:2: has 3 fields, expected 2; remove the `,` at its end"),
        ("rnames.csv", "if each row begins with a name, name that column too"),
        (
            "more.csv",
            "more.csv:3: has 4 fields, expected 2; put a field that holds a `,` in quotes",
        ),
        ("total.csv", "total.csv:4: has 1 field, expected 3; add empty fields"),
    ] {
        says(&place, &format!("fit --method majority --data {name}"), 1, &[told]);
    }
}

/// One row is one row.
#[test]
fn counts_agree_with_their_nouns() {
    let place = place_with(&[
        ("one.csv", "a,y\n1,x\n"),
        ("level.csv", "a,y\n1,2.5\n"),
        ("toys.csv", &toys(20)),
        ("few.csv", "size,colour\n1,red\n"),
        ("word.csv", "a,y\nu,1.5\n7,2.5\nv,3.5\nw,4.5\n"),
        ("two.csv", "a,y\n1,0.5\n"),
    ]);
    says(&place, "fit --method majority --data one.csv", 1, &["target `y` is `x` in the only row"]);
    says(
        &place,
        "fit --method mean --data level.csv --task regression",
        1,
        &["is 2.5 in the only row"],
    );
    let said = place.run("fit --method mean --data word.csv --out w").with_code(0);
    assert!(said.stderr.contains("has 1 number among 3 texts"), "{said:?}");
    assert!(said.stdout.contains("fitted to 4 rows of word.csv"), "{said:?}");
    place
        .run("fit --method majority --data toys.csv --threads 1 --drop weight,colour --out m")
        .with_code(0);
    let info = place.run("info m").with_code(0).stdout;
    assert!(info.contains("1, 1 thread\n") && info.contains("(20 rows)"), "{info}");
    std::fs::write(place.path("row.csv"), "size\n1\n").unwrap();
    let told = place.run("predict m --data row.csv --out p.csv").with_code(0);
    assert!(told.stderr.contains("1 prediction in p.csv"), "{told:?}");
}

/// A bound says who has what it lacks, and names the argument that is wrong.
#[test]
fn a_bound_says_who_knows_what_it_needs() {
    let place = place_with(&[
        ("toys.csv", &toys(30)),
        ("more.csv", &toys(60)),
        ("words.csv", "a,b\n1,x\n"),
        ("ragged.csv", "1,2\n3\n"),
    ]);
    place.run("fit --method rf-ridge --set features=20 --data toys.csv --out r").with_code(0);
    place
        .run("fit --method askl --set features=20 --set epochs=1 --data toys.csv --out a")
        .with_code(0);
    place.run("fit --method kernel-ridge --data toys.csv --out k").with_code(0);
    let needs = "`askl-rademacher` needs `trace-norm` (B, the bound on the nuclear norm of the read-out W); ";
    says(
        &place,
        "bound askl-rademacher --model r",
        2,
        &[
            needs,
            "a model of rf-ridge does not know it, but one of these does: sk, ",
            "askl",
            "trace-norm=20, say",
        ],
    );
    place.run("bound askl-rademacher --model r trace-norm=20").with_code(0);
    place.run("bound askl-rademacher --model a").with_code(0);
    says(&place, "bound askl-rademacher rows=5", 2, &["give it: trace-norm=20, say"]);
    says(
        &place,
        "bound rftk-effective-ridge --model k features=5",
        2,
        &[
            "needs `eigenvalues`",
            "it is measured on rows: add --data FILE, or give it: eigenvalues=[",
        ],
    );
    says(
        &place,
        "bound askl-rademacher-frequencies --model k --data toys.csv trace-norm=1",
        2,
        &["a model of kernel-ridge does not know it, but one of these does: ", "askl"],
    );
    says(
        &place,
        "bound rftk-excess-risk --model k bias=0.1",
        2,
        &["no model knows it, give it: sgd-distance=0.1, say"],
    );
    // The preconditioner of kernel-ridge has landmarks, too; those that are meant stand in how many pairs a fit has.
    for model in ["k", "k --data toys.csv"] {
        says(
            &place,
            &format!("bound hyper-krr-operations --model {model}"),
            2,
            &["needs `landmarks`", "one of these does: hyper-krr-linear, hyper-non-negative"],
        );
    }
    place.run("fit --method hyper-non-negative --data more.csv --out n").with_code(0);
    let told = place.run("bound hyper-krr-operations --model n").with_code(0).stdout;
    assert!(told.contains("m² M⁴ = 576000000\n"), "{told}"); // 60² 20⁴
    for (line, told) in [
        (
            "bound rftk-effective-ridge eigenvalues=[1,abc]",
            "`eigenvalues` is [1,abc]; it must be a number, a list",
        ),
        (
            r#"bound rftk-effective-ridge eigenvalues=[1,"abc"]"#,
            r#"(`"abc"` is no number); it must be"#,
        ),
        (
            "bound mce-ball-complexity gram=[[1,0],[0]] norm=3",
            "`gram` is [[1,0],[0]] (row 2 has 1 entry, the first 2)",
        ),
        (
            "bound mce-ball-complexity gram=@words.csv norm=3",
            "`gram` is @words.csv (`x` in line 2 is no number)",
        ),
        ("bound mce-ball-complexity gram=@ragged.csv norm=3", "(row 2 has 1 entry, the first 2)"),
        ("bound askl-rate rows=many", "input `rows` is many; write a number, such as rows="),
        (
            "bound askl-rate row=5",
            "`askl-rate` has no input `row`; did you mean `rows`? It takes trace-norm,",
        ),
        ("bound rftk-effective-ridge eigenvalue=[1]", "did you mean `eigenvalues`? It takes"),
        ("bound askl-rat", "did you mean `askl-rate`? `mercer bound` lists them"),
        ("bound rademacher", "did you mean `askl-rademacher`"),
        ("bound nosuch", "unknown bound `nosuch`; `mercer bound` lists them"),
    ] {
        says(&place, line, 2, &[told]);
    }
}

/// The words of a line keep to themselves in a shell, too: a name with blanks is one word.
#[test]
fn flags_that_are_named_can_be_typed() {
    let mut text = "patient id,size,kind\n".to_owned();
    for row in 0..1100 {
        writeln!(text, "p{row},{row}.5,{}", ["u", "v"][row % 2]).unwrap();
    }
    let place = place_with(&[("p.csv", &text)]);
    says(&place, "fit --method majority --data p.csv", 1, &["(--drop 'patient id')"]);
    let line = "$MERCER fit --method majority --data p.csv --drop 'patient id' --out m";
    let ran = Command::new("sh")
        .args(["-c", line])
        .env("MERCER", env!("CARGO_BIN_EXE_mercer"))
        .current_dir(place.path(""))
        .status();
    assert!(ran.unwrap().success());
}

/// Widths far from what the inputs are apart are named, with their values, where a kernel is learned with them.
#[test]
fn a_kernel_that_tells_no_two_rows_apart_names_its_widths() {
    let mut table = "a,b,kind\n".to_owned();
    for row in 0..40 {
        let wave = |k: u32| (f64::from(row * k) * 0.618).sin();
        writeln!(table, "{},{},{}", wave(31), wave(17), u32::from(wave(31) * wave(17) > 0.0))
            .unwrap();
    }
    let place = place_with(&[("corners.csv", &table)]);
    let fit = |set: &str| {
        let line = format!(
            "fit --method hyper-krr {set} --data corners.csv --target kind --force --out m"
        );
        place.run(&line).with_code(0).stderr
    };
    let told = fit("--set width=1e-20");
    assert!(told.contains("one value for any two different rows"), "{told}");
    assert!(
        told.contains("`width` = 1e-20 of the inputs' variance or `spread` = 1 of that is"),
        "{told}"
    );
    assert!(!fit("").contains("one value"));
}

/// Of a learned kernel it is said how many of the rows and pairs it has, and what a fit without room could have less of.
#[test]
fn what_a_learned_kernel_leaves_out_is_said() {
    let place = place_with(&[("toys.csv", &toys(120))]);
    let fit = |more: &str| {
        let line = format!("fit --data toys.csv --force --out m --method {more}");
        place.run(&line)
    };
    let told = fit("hyper-krr --set points=60 --set machine_rows=50").with_code(0).stderr;
    assert!(told.contains("its kernel to 60 of 120 and its machine to 50 of 120"), "{told}");
    assert!(told.contains("--set points=120 --set machine_rows=120 take all"), "{told}");
    let told = fit("hyper-svr").with_code(0).stderr;
    assert!(told.contains("4000 of 14400 ordered pairs"), "{told}");
    assert!(!fit("hyper-krr").with_code(0).stderr.contains("training rows"));
    let compared = "compare --methods hyper-krr,majority --data toys.csv --set hyper-krr.machine_rows=20 --folds 3";
    let told = place.run(compared).with_code(0).stderr;
    assert!(told.contains("hyper-krr fitted its machine to 20 of 80"), "{told}");
    let many = place_with(&[("toys.csv", &toys(4000))]);
    let line = "fit --data toys.csv --out m --method hyper-krr --set solver=cholesky";
    let told = many.run(line).with_code(2).stderr;
    let less =
        "smaller settings (--set points=, --set machine_rows=), another solver (--set solver=)";
    assert!(told.contains(less) && !told.contains("degree"), "{told}");
}

/// Settings that a method can never heed are not offered, and what it takes the place of is named.
#[test]
fn settings_of_other_solvers_are_refused_by_name() {
    let place = place_with(&[("toys.csv", &toys(40))]);
    let listed = place.run("list methods hyper-krr-linear").with_code(0).stdout;
    assert!(!listed.contains("\nsubsets") && !listed.contains("\npairs"), "{listed}");
    for (method, set, told) in [
        ("hyper-krr-linear", "subsets=5", "the method is not hyper-krr-linear"),
        ("hyper-krr-linear", "hyper=wishart", "`hyper` is wishart; it must be a Gaussian one"),
        ("hyper-krr", "solver=non-negative", "`other` is -1; it must be at least 0"),
        ("hyper-krr", "stage2=features --set spectrum=as-is", "`stage2` is machine"),
        ("hyper-krr", "width=1e-250", "`width` is 1e-250; it must be between 1e-200"),
    ] {
        let line = format!("fit --method {method} --data toys.csv --out m --set {set}");
        says(&place, &line, 2, &[told]);
    }
    let told = place.run("fit --method kta --tune --data toys.csv --out m").with_code(0).stderr;
    assert!(told.contains("kta has nothing to tune"), "{told}");
}

/// Rows that are all the same leave no number in a model file that cannot be read.
#[test]
fn a_model_of_equal_rows_can_be_read() {
    let place = place_with(&[("same.csv", &format!("a,kind\n{}", "1,x\n1,y\n".repeat(10)))]);
    place.run("fit --method kta --data same.csv --out m").with_code(0);
    place.run("predict m --data same.csv").with_code(0);
}

/// A method that learned nothing says so, at the fit and where it is scored; the one that is to learn
/// nothing does not.
#[test]
fn a_method_that_is_no_better_than_one_answer_says_so() {
    let mut noise = "a,b,kind,y\n".to_owned();
    for row in 0..60 {
        let wave = |k: u32| (f64::from(row * k) * 0.618).sin();
        writeln!(noise, "{},{},{},{}", wave(31), wave(17), row % 2, wave(row)).unwrap();
    }
    let place = place_with(&[("noise.csv", &noise)]);
    let told = "is no better than the same answer for every row";
    // So large a ridge leaves nothing of the data.
    let classes = "--data noise.csv --target kind --drop y";
    for (line, said) in [
        ("fit --method kernel-ridge --set lambda=1e12 --data noise.csv --drop kind --out r".to_owned(), true),
        ("fit --method mean --data noise.csv --drop kind --out m".to_owned(), false),
        (format!("evaluate --method majority --folds 3 {classes}"), false),
        ("evaluate --method kernel-ridge --set lambda=1e12 --folds 3 --data noise.csv --drop kind".to_owned(), true),
    ] {
        let ended = place.run(&line).with_code(0);
        assert_eq!(ended.stderr.contains(told), said, "`{line}`: {ended:?}");
    }
}
