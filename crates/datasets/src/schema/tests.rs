use super::*;
use crate::{RowFormat, SchemaOptions};
use ndarray::Array2;

fn file(text: &str) -> RowFile {
    RowFile::spooled(text.as_bytes(), "f.csv", None).unwrap()
}

fn surveyed(text: &str, options: &SchemaOptions) -> Result<(Schema, usize), DataError> {
    survey(&file(text), options)
}

fn rows(schema: &Schema, text: &str) -> Result<(Array2<f64>, Truths, Vec<usize>), DataError> {
    schema.read(&file(text))?.chunk(usize::MAX, true)
}

const TOYS: &str = "id,size,colour,kind\r\n1,1.5,red,box\r\n2,3,blue,ball\r\n3,2,red,box\r\n";

#[test]
fn columns_are_found_and_rows_become_numbers() {
    let options = SchemaOptions { drop: vec!["id".to_owned()], ..SchemaOptions::default() };
    let (schema, count) = surveyed(TOYS, &options).unwrap();
    schema.check().unwrap();
    assert_eq!((count, schema.width(), schema.named), (3, 3, true));
    let (inputs, truths, lines) = rows(&schema, TOYS).unwrap();
    assert_eq!(inputs, ndarray::array![[1.5, 0., 1.], [3., 1., 0.], [2., 0., 1.]]);
    assert_eq!(truths, Truths::Classes(vec![1, 0, 1]));
    assert_eq!(lines, [2, 3, 4]);
    // Without the target column the same schema reads the same numbers and no targets.
    let bare = "id,size,colour\n7,1.5,red\n";
    let (inputs, truths, _) = rows(&schema, bare).unwrap();
    assert_eq!(inputs, ndarray::array![[1.5, 0., 1.]]);
    assert!(truths.is_empty());
    let text = serde_json::to_string(&schema).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&text).unwrap(), schema);
}

#[test]
fn targets_are_guessed_and_can_be_told() {
    let kind = |text: &str| surveyed(text, &SchemaOptions::default()).map(|(s, _)| s.target.kind);
    assert_eq!(kind("1,0\n2,1\n3,0\n4,1\n").unwrap(), Kind::Classification);
    assert_eq!(kind("1,0.5\n2,1\n3,0\n4,1\n").unwrap(), Kind::Regression);
    assert_eq!(kind("1,10\n2,11\n3,12\n4,13\n").unwrap(), Kind::Regression);
    let told = SchemaOptions {
        target: Some("1".to_owned()),
        kind: Some(Kind::Classification),
        ..SchemaOptions::default()
    };
    let (schema, _) = surveyed("0,5\n1,6\n1,7\n", &told).unwrap();
    assert_eq!(schema.target.labels, ["0", "1"]);
    let (_, truths, _) = rows(&schema, "1,8\n0,9\n").unwrap();
    assert_eq!(truths, Truths::Classes(vec![1, 0]));
}

#[test]
fn what_was_not_there_at_fit_time_is_named() {
    let (schema, _) = surveyed(TOYS, &SchemaOptions::default()).unwrap();
    for (text, told) in [
        ("id,size,kind\n1,2,box\n", "has no column `colour`"),
        ("id,size,colour,kind,weight\n1,2,red,box,3\n", "has column `weight`"),
        (
            "id,size,colour,kind\n1,2,green,box\n",
            "f.csv:2: category `green` in column `colour` was not seen",
        ),
        (
            "id,size,colour,kind\n1,2,red,cone\n",
            "f.csv:2: class `cone` was not seen at fit time; seen were `ball`, `box`",
        ),
        (
            "id,size,colour,kind\n1,two,red,box\n",
            "f.csv:2: `two` in column `size` is not a finite number",
        ),
        ("id,size,colour,kind\n1,2,red,\n", "f.csv:2: the target (column `kind`) is missing"),
        ("", "f.csv: holds no rows"),
    ] {
        let error = rows(&schema, text).unwrap_err().to_string();
        assert!(error.contains(told), "{error}\nexpected {told}");
    }
    let (plain, _) = surveyed("1,2,0\n3,4,1\n5,6,0\n7,8,1\n", &SchemaOptions::default()).unwrap();
    let error = rows(&plain, "1,2,3,4\n").unwrap_err().to_string();
    assert!(
        error.contains("has 4 columns, but the model was fitted on 2 (3 with the target)"),
        "{error}"
    );
}

#[test]
fn what_cannot_be_learned_from_is_refused() {
    let named =
        |target: &str| SchemaOptions { target: Some(target.to_owned()), ..Default::default() };
    let plain = SchemaOptions::default();
    for (text, options, told) in [
        ("a,b\n", &plain, "has column names but no rows"),
        ("", &plain, "holds no rows"),
        ("a,y\n1,2\n", &named("z"), "has no column `z` (--target); its columns are `a`, `y`"),
        ("1,2\n3,4\n", &named("5"), "no header, and no column `5`"),
        ("a,y\n1,x\n2,x\n", &plain, "target `y` is `x` in all 2 rows"),
        ("a,y\n1,0.5\n2,0.5\n", &plain, "target `y` is 0.5 in all 2 rows"),
        ("a,y\n1,x\n2,\n", &plain, "f.csv:3: the target (column `y`) is missing"),
        ("a,a,y\n1,2,3\n", &plain, "has two columns called `a`"),
        ("y\n1\n2\n", &plain, "needs at least one input column"),
        (
            "a;y\n1,5;2\n",
            &plain,
            "f.csv:2: column `a` holds `1,5`, a number with a comma; write 1.5",
        ),
        (
            "a;y\n12,345;2\n7,5;3\n",
            &plain,
            "write 12.345 if the comma begins the decimals, 12345 if it stands between thousands, read",
        ),
        (
            "a;y\n-1,000;2\n7,5;3\n",
            &plain,
            "write -1.000 if the comma begins the decimals, -1000 if",
        ),
        ("a;y\n0,125;2\n7,5;3\n", &plain, "a number with a comma; write 0.125, read"),
        ("a;y\n1234,125;2\n7,5;3\n", &plain, "a number with a comma; write 1234.125, read"),
        ("a;y\n1;1,000\n", &plain, "write 1.000 if the comma begins the decimals, 1000 if"),
        (
            "a;y\n1.234,56;2\n7,5;3\n",
            &plain,
            "f.csv:2: column `a` holds `1.234,56`, a number with a comma; write 1234.56",
        ),
        (
            "a;y\n-1 234,5;2\n7,5;3\n",
            &plain,
            "f.csv:2: column `a` holds `-1 234,5`, a number with a comma; write -1234.5",
        ),
        (
            "a;y\n1;2.000,25\n",
            &plain,
            "f.csv:2: the target `2.000,25` (column `y`) is a number with a comma; write 2000.25",
        ),
        (
            "a;y\n1;2,25\n",
            &plain,
            "f.csv:2: the target `2,25` (column `y`) is a number with a comma",
        ),
        (
            "a,b,y\n1,,1\n2,,2\n",
            &plain,
            "column `b` is missing in every row; leave it out (--drop b)",
        ),
        (
            "a,patient id,y\n1,,1\n2,,2\n",
            &plain,
            "column `patient id` is missing in every row; leave it out (--drop 'patient id')",
        ),
        (
            "a,y\n1,0.5\n2,1.5\n3,2.5\n4,unknown\n",
            &plain,
            "f.csv:5: the target `unknown` (column `y`) is not a number, but 3 others are; correct it",
        ),
    ] {
        let error = surveyed(text, options).unwrap_err().to_string();
        assert!(error.contains(told), "{error}\nexpected {told}");
    }
    let dropped = SchemaOptions { drop: vec!["y".to_owned()], ..Default::default() };
    assert!(surveyed("a,y\n1,2\n", &dropped).unwrap_err().to_string().contains("it is the target"));
    let many: Vec<String> = (0..1500).map(|i| format!("word{i},{}", i % 2)).collect();
    let many = many.join("\n");
    let error = surveyed(&format!("a,y\n{many}"), &plain).unwrap_err().to_string();
    assert!(error.contains("more than 1000 different texts"), "{error}");
    let words = SchemaOptions { kind: Some(Kind::Regression), ..Default::default() };
    let error = surveyed("a,y\n1,u\n2,v\n", &words).unwrap_err().to_string();
    assert!(error.contains("holds text; it cannot be regressed on"), "{error}");
}

#[test]
fn svmlight_needs_no_names() {
    use crate::rows::RowFormat;
    let sparse =
        |text: &str| RowFile::spooled(text.as_bytes(), "f.svm", Some(RowFormat::Svmlight)).unwrap();
    let train = sparse("1 1:0.5 3:2\n-1 2:1\n1 1:1\n-1 3:4\n");
    let (schema, count) = survey(&train, &SchemaOptions::default()).unwrap();
    assert_eq!((count, schema.width()), (4, 3));
    assert_eq!(schema.target.labels, ["-1", "1"]);
    let few = sparse("1 2:7\n");
    let (inputs, truths, _) = schema.read(&few).unwrap().chunk(9, true).unwrap();
    assert_eq!(inputs, ndarray::array![[0.0, 7.0, 0.0]]);
    assert_eq!(truths, Truths::Classes(vec![1]));
    // A column that no row of the fit has is left out, wherever it stands.
    let wide = sparse("1 2:7 4:7\n");
    let (inputs, _, _) = schema.read(&wide).unwrap().chunk(9, true).unwrap();
    assert_eq!(inputs, ndarray::array![[0.0, 7.0, 0.0]]);
    let error = schema.read(&sparse("1 0:7\n")).unwrap().chunk(9, true).unwrap_err().to_string();
    assert!(error.contains("has column 0, but the model knows 1 to 3"), "{error}");
    assert!(
        schema.read(&file("1,2,3,1\n")).unwrap_err().to_string().contains("was fitted on svmlight")
    );
}

#[test]
fn a_schema_from_a_file_is_checked() {
    let (schema, _) = surveyed(TOYS, &SchemaOptions::default()).unwrap();
    let broken = |change: fn(&mut Schema)| {
        let mut schema = schema.clone();
        change(&mut schema);
        schema.check().unwrap_err().to_string()
    };
    assert!(broken(|s| s.columns.clear()).contains("no input column"));
    assert!(broken(|s| s.columns.swap(0, 1)).contains("out of order"));
    assert!(broken(|s| s.columns[1].position = 0).contains("two columns in one place"));
    assert!(broken(|s| s.target.labels.truncate(1)).contains("1 class names"));
    assert!(
        broken(|s| {
            let levels = vec!["a".to_owned(), "a".to_owned()];
            s.columns[0].content = Holds::Categories { encoding: Categories::Ordinal, levels };
        })
        .contains("repeated levels")
    );
}

/// What opens a column decides nothing: one entry that is no number among many is a fault with its
/// line, wherever it stands, or a hole.
#[test]
fn a_column_of_numbers_is_one_whatever_it_begins_with() {
    let text = |entry: &str, at: usize| {
        let entries = (0..40).map(|row| match row {
            _ if row == at => format!("{entry},{}\n", row % 2),
            _ => format!("{row}.5,{}\n", row % 2),
        });
        format!("x,y\n{}", entries.collect::<String>())
    };
    let plain = SchemaOptions::default();
    for at in [0, 1, 20, 39] {
        for entry in ["inf", "-inf", "Infinity", "1e400", "unknown", "12 kg", "#DIV/0!", "- 3"] {
            let told = surveyed(&text(entry, at), &plain).unwrap_err().to_string();
            let finite = if ["unknown", "12 kg", "- 3"].contains(&entry) { "" } else { "finite " };
            let expected =
                format!("f.csv:{}: `{entry}` in column `x` is not a {finite}number (", at + 2);
            assert!(told.starts_with(&expected), "{told}\nexpected {expected}");
            let digits = entry.contains(|c: char| c.is_ascii_digit());
            let remedy = if digits { "leave it empty if it is missing" } else { "(--missing " };
            assert!(told.contains(remedy), "{told}");
        }
        for entry in ["-", ".", "--", "n/a", "None", "#N/A", "<NA>", "NULL", "nan", "?", ""] {
            let text = text(entry, at);
            let (schema, _) = surveyed(&text, &plain).unwrap();
            assert_eq!(schema.columns[0].content, Holds::Numbers, "`{entry}` in row {at}");
            let (inputs, ..) = rows(&schema, &text).unwrap();
            let holes: Vec<usize> = (0..40).filter(|&row| inputs[[row, 0]].is_nan()).collect();
            assert_eq!(holes, [at], "`{entry}`");
        }
    }
    // Mostly words: categories, the numbers and the dash among them too, as they are spelled.
    let sizes = "42,S,M,L,XL,-,042,M";
    let text: Vec<String> =
        sizes.split(',').enumerate().map(|(row, size)| format!("{size},{}\n", row % 2)).collect();
    let text = text.concat();
    let (schema, _) = surveyed(&format!("x,y\n{text}"), &plain).unwrap();
    let Holds::Categories { levels, .. } = &schema.columns[0].content else { panic!("{schema:?}") };
    assert_eq!(levels, &["-", "042", "42", "L", "M", "S", "XL"]);
}

/// A class may be called what stands for a missing value elsewhere; among numbers it is a hole.
#[test]
fn only_nothing_is_missing_in_a_target_of_words() {
    let plain = SchemaOptions::default();
    for word in ["None", "NA", "null", "?"] {
        let text = format!("x,y\n1,Insomnia\n2,{word}\n,{word}\n4,Insomnia\n");
        let (schema, _) = surveyed(&text, &plain).unwrap();
        assert!(schema.target.labels.contains(&word.to_owned()), "{schema:?}");
        let (inputs, truths, _) = rows(&schema, &text).unwrap();
        let Truths::Classes(classes) = truths else { panic!("classes") };
        assert_eq!((classes[0], classes[1]), (classes[3], classes[2]));
        assert_ne!(classes[0], classes[1]);
        assert!(inputs[[2, 0]].is_nan());
        for numbers in ["x,y\n1,0\n2,1\n3,0\n4,1\n", "x,y\n1,0.5\n2,1.5\n3,2.5\n"] {
            let text = format!("{numbers}5,{word}\n");
            let error = surveyed(&text, &plain).unwrap_err().to_string();
            let told = format!("the target (column `y`) is missing (`{word}`)");
            assert!(error.contains(&told), "{error}\nexpected {told}");
        }
        // In an input it is missing as before.
        let text = format!("x,y\n1,a\n{word},b\n3,a\n4,b\n");
        let (schema, _) = surveyed(&text, &plain).unwrap();
        assert!(rows(&schema, &text).unwrap().0[[1, 0]].is_nan());
    }
    let text = "x,y\n1,a\n2,\n3,b\n";
    let error = surveyed(text, &plain).unwrap_err().to_string();
    assert!(error.contains("f.csv:3: the target (column `y`) is missing"), "{error}");
}

/// Percents and prices are numbers with a sign, not words; as categories they would be a silent mistake.
#[test]
fn numbers_with_a_sign_are_no_categories() {
    let plain = SchemaOptions::default();
    let all =
        ["45%", "-3.5 %", "$12", "$1,200.50", "1200 €", "£3", "+7%", "1,234,567.25", "-$5", "$-5"];
    for entry in all {
        let text: Vec<String> =
            (0..30).map(|row| format!("{row};\"{entry}\";{}\n", row % 2)).collect();
        let text = format!("a;p;y\n{}", text.concat());
        let error = surveyed(&text, &plain).unwrap_err().to_string();
        let told = format!("f.csv:2: column `p` holds `{entry}`, a number with a sign");
        assert!(error.starts_with(&told), "{error}\nexpected {told}");
        let categorical = vec!["p".to_owned()];
        let told = SchemaOptions { categorical, ..SchemaOptions::default() };
        assert!(surveyed(&text, &told).is_ok(), "{entry}");
        let target = SchemaOptions { target: Some("p".to_owned()), ..SchemaOptions::default() };
        let error = surveyed(&text, &target).unwrap_err().to_string();
        assert!(error.contains("is a number with a sign; write the number alone"), "{error}");
    }
    for word in ["%", "$", "5% off", "a,b", "1,2,3", "12 kg", "C$", "1,23.5"] {
        let text: Vec<String> = (0..30)
            .map(|row| format!("{row};\"{word}{}\";{}\n", ["", "x"][row % 2], row % 2))
            .collect();
        let (schema, _) = surveyed(&format!("a;p;y\n{}", text.concat()), &plain).unwrap();
        assert!(schema.has_categories(), "{word}");
    }
}

#[test]
fn labels_are_kept_by_their_spelling() {
    let plain = SchemaOptions { kind: Some(Kind::Classification), ..SchemaOptions::default() };
    let labels =
        ["007", "01", "1", "1.0", "7", "7.0", "9007199254740992", "9007199254740993", "+7", "-0"];
    let text: Vec<String> =
        (0..60).map(|row| format!("{row}.5,{}\n", labels[row % labels.len()])).collect();
    let text = text.concat();
    let text = format!("x,y\n{text}");
    let (schema, count) = surveyed(&text, &plain).unwrap();
    let Truths::Classes(found) = rows(&schema, &text).unwrap().1 else { panic!("classes") };
    assert_eq!((count, schema.target.labels.len()), (60, labels.len()));
    for (row, &class) in found.iter().enumerate() {
        assert_eq!(schema.target.labels[class as usize], labels[row % labels.len()]);
    }
    let error = rows(&schema, "x,y\n1,+1\n").unwrap_err().to_string();
    assert!(error.contains("class `+1` was not seen at fit time"), "{error}");
}

#[test]
fn a_column_without_a_name_is_called_by_its_number_everywhere() {
    let options = |drop: &[&str]| SchemaOptions {
        drop: drop.iter().map(|&name| name.to_owned()).collect(),
        ..SchemaOptions::default()
    };
    // An index before the columns, as pandas writes it, before names and before numbers.
    for (text, first) in [
        (",a,y\n0,1.5,u\n1,2,v\n2,3,u\n", "1"),
        (",0,1,2\n10,1.5,7,u\n11,2,8,v\n12,3,9,u\n", "column 1"),
    ] {
        let (schema, _) = surveyed(text, &options(&[])).unwrap();
        assert!(schema.named, "{text}");
        assert_eq!(schema.feature_names()[0], first);
        assert_eq!(rows(&schema, text).unwrap().0.nrows(), 3, "{text}");
        let (schema, _) = surveyed(text, &options(&[first])).unwrap();
        assert_eq!(rows(&schema, text).unwrap().0.ncols(), schema.width(), "{text}");
    }
    // A comma at the end of every line is no column, and not the target.
    let text = "a,y,\n1.5,u,\n2,v,\n3,u,\n";
    let (schema, _) = surveyed(text, &options(&[])).unwrap();
    assert_eq!((schema.target.name.as_str(), schema.feature_names()), ("y", vec!["a".to_owned()]));
    assert_eq!(rows(&schema, text).unwrap().0.ncols(), 1);
    assert_eq!(rows(&schema, "a,y\n1,u\n").unwrap().0.ncols(), 1);
    // Named by its number, before a target that a file to be predicted lacks.
    let text = "y,a,\nu,1.5,5\nv,2,6\nu,3,8\n";
    let options = SchemaOptions { target: Some("y".to_owned()), ..SchemaOptions::default() };
    let (schema, _) = surveyed(text, &options).unwrap();
    assert_eq!(schema.feature_names(), ["a", "3"]);
    let (inputs, truths, _) = rows(&schema, "a,\n1,2\n").unwrap();
    assert_eq!((inputs, truths.len()), (ndarray::array![[1.0, 2.0]], 0));
}

#[test]
fn what_was_left_out_may_be_absent_later() {
    let text = "id,a,note,b,y\n1,1,p,2,u\n2,2,q,1,v\n3,3,r,5,u\n";
    let drop = vec!["id,note".to_owned()];
    let options = SchemaOptions { drop, ..SchemaOptions::default() };
    let (schema, _) = surveyed(text, &options).unwrap();
    for head in ["id,a,note,b,y", "a,b", "a,b,y", "id,a,b", "a,note,b,y"] {
        let row: Vec<&str> = head
            .split(',')
            .map(|name| match name {
                "a" => "4",
                "b" => "7",
                "y" => "v",
                _ => "x",
            })
            .collect();
        let (inputs, truths, _) = rows(&schema, &format!("{head}\n{}\n", row.join(","))).unwrap();
        assert_eq!(inputs, ndarray::array![[4.0, 7.0]], "{head}");
        assert_eq!(truths.len(), usize::from(head.ends_with('y')), "{head}");
    }
    for text in ["b,a\n7,4\n", "a,id,b\n4,x,7\n"] {
        let (inputs, ..) = schema.read(&file(text)).unwrap().chunk(9, false).unwrap();
        assert_eq!(inputs, ndarray::array![[4.0, 7.0]], "in another order");
    }
    for (head, told) in [
        ("id,note,b,y", "has no column `a`"),
        ("a,b,c", "has column `c` that the model does not know"),
        ("a,b,", "has a column without a name, its column 3, that the model does not know"),
    ] {
        let row = vec!["1"; head.split(',').count()].join(",");
        let error = rows(&schema, &format!("{head}\n{row}\n")).unwrap_err().to_string();
        assert!(error.contains(told), "{error}\nexpected {told}");
    }
    // Without names only what can be told apart by the count: two of five were left out here.
    let drop = vec!["1,3".to_owned()];
    let options = SchemaOptions { drop, header: Header::No, ..SchemaOptions::default() };
    let (schema, _) = surveyed("7,1,8,2,u\n7,2,8,1,v\n7,3,8,5,u\n", &options).unwrap();
    for text in ["7,4,8,6,v\n", "7,4,8,6\n", "4,6\n", "4,6,v\n"] {
        assert_eq!(rows(&schema, text).unwrap().0, ndarray::array![[4.0, 6.0]], "{text}");
    }
}

#[test]
fn numbers_may_stand_among_names() {
    let named = |text: &str, target: Option<&str>| {
        let target = target.map(str::to_owned);
        // Names that are taken for data are texts among numbers: a fault in line 1.
        surveyed(text, &SchemaOptions { target, ..Default::default() }).is_ok_and(|(s, _)| s.named)
    };
    let body = "1.5,2,3,0\n2.5,4,5,1\n3,4,5,0\n4,4,5,1\n";
    for (head, is) in [
        ("dist,2019,2020,sold", true),
        ("2019,2020,2021,2022", true),
        ("1.25,2,3,1", false),
        (",2,3,1", false),
        (",0,1,2", true),
        // A year with digits behind the point is a measurement.
        ("dist,2019.5,2020,sold", false),
        ("dist,2019,2019,sold", false),
    ] {
        assert_eq!(named(&format!("{head}\n{body}"), None), is, "{head}");
    }
    assert!(named(&format!("dist,2019.5,2020,sold\n{body}"), Some("sold")));
}

/// What other countries and programs write is no category, neither among inputs nor as a target.
#[test]
fn numbers_in_disguise_are_refused_with_what_to_write() {
    for (number, told) in [
        ("1 234", "write 1234"),
        ("1\u{202f}234", "write 1234"),
        ("1\u{2009}234", "write 1234"),
        ("1'234'567.5", "write 1234567.5"),
        ("\"2,5\"", "write 2.5"),
        ("\"2,5e3\"", "write 2.5e3"),
        ("\"12,34,567\"", "with a sign"),
        ("\u{ff11}\u{ff12}", "with a sign"),
        ("٣٤", "with a sign"),
        ("\u{2013}5.2", "with a sign"),
        ("\u{ff0d}7", "with a sign"),
        ("(3)", "write -3"),
        ("\"(1,234.5)\"", "write -1234.5"),
        ("(2.5)", "write -2.5"),
        ("3-", "write -3"),
        ("3.001.000", "write 3001000"),
        ("-3.001.000", "write -3001000"),
    ] {
        let rows = (0..6).map(|row| format!("{number},{row}.5\n")).collect::<Vec<_>>().concat();
        let input = surveyed(&rows, &SchemaOptions::default()).unwrap_err().to_string();
        assert!(input.contains(told), "{number}: {input}");
        let rows = (0..6).map(|row| format!("{row}.5,{number}\n")).collect::<Vec<_>>().concat();
        let target = surveyed(&rows, &SchemaOptions::default()).unwrap_err().to_string();
        assert!(target.contains(told) && target.contains("--task"), "{number}: {target}");
        let kind = Some(Kind::Classification);
        let asked = SchemaOptions { kind, ..SchemaOptions::default() };
        // As classes they are texts.
        let rows = rows + "1.5,other\n";
        assert!(surveyed(&rows, &asked).is_ok(), "{number}");
    }
    // Nearly all different texts are none to learn from, whether or not a number is among them.
    for first in ["7 kg", "7"] {
        let rows: String = std::iter::once(format!("{first},0.5\n"))
            .chain((0..40).map(|row| format!("{row}.5 kg,{row}.5\n")))
            .collect();
        let told = surveyed(&rows, &SchemaOptions::default()).unwrap_err().to_string();
        assert!(told.contains("different texts in 41 rows"), "{first}: {told}");
    }
    // Nor as a target, unless it is asked for.
    let rows = (0..40).map(|row| format!("{row}.5,{row} kg\n")).collect::<Vec<_>>().concat();
    let told = surveyed(&rows, &SchemaOptions::default()).unwrap_err().to_string();
    assert!(told.contains("has 40 different texts in 40 rows"), "{told}");
    let kind = Some(Kind::Classification);
    assert!(surveyed(&rows, &SchemaOptions { kind, ..SchemaOptions::default() }).is_ok());
    // A version, an address of a network, and a list in brackets are texts.
    for text in ["1.2.3", "10.0.0.1", "(3, 4)", "3-4", "(a)"] {
        let rows = format!("{text},0.5\n{text}x,1.5\n").repeat(9);
        assert!(surveyed(&rows, &SchemaOptions::default()).is_ok_and(|own| own.0.has_categories()));
    }
    // A date and a code are neither.
    assert!(
        surveyed("1,2026-11-27\n2,2026-11-28\n3,2026-11-27\n", &SchemaOptions::default()).is_ok()
    );
}

/// The flag names all that would have to be missing, at once, since it replaces what is missing by itself.
#[test]
fn the_flag_for_missing_texts_names_them_all() {
    for (cells, flag) in [
        (["1", "no", "none of it", "2.5"], "(--missing 'no,none of it' --impute mean)"),
        (["1", "inf", "-inf", "2.5"], "(--missing inf,-inf --impute mean)"),
        (["1", "NA", "-inf", "2.5"], "(--missing NA,-inf --impute mean)"),
        (["1", "-inf", "3", "2.5"], "(--missing -inf --impute mean)"),
        (["1", "\"a,b\"", "3", "2.5"], "leave it empty if it is missing"),
    ] {
        let rows = cells.map(|cell| format!("{cell},0.5\n{cell},1.5\n")).concat();
        let error = surveyed(&rows, &SchemaOptions::default()).unwrap_err().to_string();
        assert!(error.contains(flag), "{cells:?}: {error}");
        let Some(list) = flag.strip_prefix("(--missing") else { continue };
        let list = list.trim_end_matches(" --impute mean)").trim_start_matches(' ');
        let list = list.trim_matches('\'').split(',').map(str::to_owned).collect();
        let missing = SchemaOptions { missing: Some(list), ..SchemaOptions::default() };
        surveyed(&rows, &missing).unwrap();
    }
}

#[test]
fn a_table_that_seems_to_have_one_column_is_told_its_separator() {
    for (sign, flag) in [('|', "'|'"), ('~', "'~'"), (':', ":"), (' ', "blanks"), ('x', "CHAR")] {
        let text = format!("a{sign}b\n1{sign}2\n3{sign}4\n");
        let error = surveyed(&text, &SchemaOptions::default()).unwrap_err().to_string();
        assert!(error.ends_with(&format!("(--separator {flag})")), "{error}");
    }
    let file =
        RowFile::spooled(&b"1:2 3:4\n1:5 3:2\n"[..], "f", Some(RowFormat::Svmlight)).unwrap();
    let error = survey(&file, &SchemaOptions::default()).unwrap_err().to_string();
    assert!(error.contains("begin each row with its target"), "{error}");
}
