use super::*;
use crate::SchemaOptions;
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
    let (schema, _) = surveyed("0,5\n1.0,6\n+1,7\n", &told).unwrap();
    assert_eq!(schema.target.labels, ["0", "1"]);
    let (_, truths, _) = rows(&schema, "1,8\n0,9\n").unwrap();
    assert_eq!(truths, Truths::Classes(vec![1, 0]));
}

#[test]
fn what_was_not_there_at_fit_time_is_named() {
    let (schema, _) = surveyed(TOYS, &SchemaOptions::default()).unwrap();
    for (text, told) in [
        (
            "id,colour,size,kind\n1,red,2,box\n",
            "another order: column 2 is `colour`, but was `size`",
        ),
        ("id,size,kind\n1,2,box\n", "has no column `colour`"),
        ("id,size,colour,kind,weight\n1,2,red,box,3\n", "has a column `weight`"),
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
        ("a,b\n", &plain, "holds no rows"),
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
            "a;y\n1;2,25\n",
            &plain,
            "f.csv:2: the target `2,25` (column `y`) is a number with a comma",
        ),
        (
            "a,b,y\n1,,1\n2,,2\n",
            &plain,
            "column `b` is missing in every row; leave it out (--drop b)",
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
    let wide = sparse("1 4:7\n");
    let error = schema.read(&wide).unwrap().chunk(9, true).unwrap_err().to_string();
    assert!(error.contains("has column 4, but the model knows 1 to 3"), "{error}");
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
