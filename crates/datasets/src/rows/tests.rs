use super::*;

pub(super) fn all(text: &[u8], format: RowFormat) -> Result<Vec<(usize, Vec<String>)>, DataError> {
    let file = RowFile::spooled(text, "f", Some(format))?;
    let mut rows = file.rows()?;
    let mut found = Vec::new();
    while let Some((line, row)) = rows.next()? {
        found.push((
            line,
            match row {
                Row::Fields(fields) => {
                    (0..fields.len()).map(|at| fields.field(at).text()).collect()
                }
                Row::Sparse { target, entries } => {
                    let pair = |(column, value): &(u32, f64)| format!("{column}:{value}");
                    std::iter::once(target.to_string()).chain(entries.iter().map(pair)).collect()
                }
            },
        ));
    }
    Ok(found)
}

#[test]
fn text_is_taken_apart_as_rfc_4180_says() {
    let text = b"\xef\xbb\xbfa,\"b, c\",d\r\n\r\n1,\"say \"\"hi\"\"\",  x \r\n\"two\nlines\",NA,3";
    let rows = all(text, RowFormat::Text(b',')).unwrap();
    assert_eq!(rows[0], (1, vec!["a".into(), "b, c".into(), "d".into()]));
    assert_eq!(rows[1], (3, vec!["1".into(), "say \"hi\"".into(), "x".into()]));
    assert_eq!(rows[2], (4, vec!["two\nlines".into(), String::new(), "3".into()]));
    let tabs = all(b"1\t2\n", RowFormat::Text(b'\t')).unwrap();
    assert_eq!(tabs[0].1, ["1", "2"]);
}

/// An inch is a letter: only a quote at the start of a field opens one, for whoever counts lines
/// and whoever takes them apart.
#[test]
fn a_quote_inside_a_field_is_a_letter() {
    let comma = RowFormat::Text(b',');
    let every: Vec<String> = (0..20).map(|row| format!("{row}\" pipe,0.{row},a\n")).collect();
    let rows = all(every.concat().as_bytes(), comma).unwrap();
    assert_eq!(rows.len(), 20);
    for (row, (line, fields)) in rows.iter().enumerate() {
        let expected = [format!("{row}\" pipe"), format!("0.{row}"), "a".to_owned()];
        assert_eq!((*line, fields.as_slice()), (row + 1, &expected[..]));
    }
    // Two among twenty, next to each other: they were one row of five fields, or of three.
    let odd = |row| matches!(row, 4 | 5);
    let some: Vec<String> =
        (0..20)
            .map(|row| {
                if odd(row) { "7\" pipe,0.3,a\n".to_owned() } else { format!("{row} pipe,0.5,b\n") }
            })
            .collect();
    let rows = all(some.concat().as_bytes(), comma).unwrap();
    assert_eq!(rows.len(), 20);
    assert_eq!(rows.iter().filter(|(_, row)| row == &["7\" pipe", "0.3", "a"]).count(), 2);
    for (text, fields) in [
        ("a\"b\",c", vec!["a\"b\"", "c"]),
        ("\"a\"b\"c\",d", vec!["ab\"c\"", "d"]),
        ("x, \"y, z\" ,w", vec!["x", "y, z", "w"]),
        ("\"\",\"\"\"\",\"a\"\"\"", vec!["", "\"", "a\""]),
        ("1,\"7\"\" pipe, long\"", vec!["1", "7\" pipe, long"]),
        ("1,\"two\nlines\",3\" x", vec!["1", "two\nlines", "3\" x"]),
    ] {
        let rows = all(text.as_bytes(), comma).unwrap();
        assert_eq!(rows.len(), 1, "{text}");
        assert_eq!(rows[0].1, fields, "{text}");
    }
    let head = RowFile::spooled(&b"size 7\";a,b\n1;2\n"[..], "f", None).unwrap();
    assert_eq!(head.format(), RowFormat::Text(b','));
    let head = RowFile::spooled(&b"size 7\";a\n1;2\n"[..], "f", None).unwrap();
    assert_eq!(head.format(), RowFormat::Text(b';'));
}

#[test]
fn faults_have_a_line() {
    let comma = RowFormat::Text(b',');
    for (text, format, told) in [
        (&b"1,2\n1,2,3\n"[..], comma, "f:2: has 3 fields, expected 2"),
        (b"1,\"2\n3,4\n", comma, "f:1: opens a quote that never closes"),
        (b"1,2\n\xff,2\n", comma, "f:2: is not UTF-8 text"),
        (b"1,2\x003\n", comma, "f:1: holds a byte 0"),
        (b"\xff\xfea\0,\0b\0\n\0", comma, "f:1: holds a byte 0: this is UTF-16; save it as UTF-8"),
        (b"a,b\r1,x\r2,y\r", comma, "f:1: ends its lines in CR alone"),
        (b"a\r\"1\r2\"\r", comma, "f:1: ends its lines in CR alone"),
        (b"1 2:1\n1 3:1 2:1\n", RowFormat::Svmlight, "f:2:"),
        (b"PAR1", RowFormat::Parquet, "f: is not Parquet"),
    ] {
        let error = all(text, format).unwrap_err().to_string();
        assert!(error.starts_with(told), "{error}\nexpected {told}");
    }
}

/// A pipe gives its bytes once, and rows are read more than once.
#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_copied() {
    let folder = tempfile::tempdir().unwrap();
    for (name, format) in [("pipe", None), ("pipe.tsv", None), ("p", Some(RowFormat::Svmlight))] {
        let path = folder.path().join(name);
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let text = if format.is_some() { "1 1:2\n-1 1:3\n" } else { "a\tb\n1\t2\n" };
        let writer = std::thread::spawn({
            let path = path.clone();
            move || std::fs::write(path, text).unwrap()
        });
        let file = RowFile::open(&path, format).unwrap();
        writer.join().unwrap();
        assert!(file.is_spooled(), "{name}");
        assert_eq!(file.format(), format.unwrap_or(RowFormat::Text(b'\t')), "{name}");
        assert_eq!(file.name(), path.display().to_string());
        for pass in 0..2 {
            let mut rows = file.rows().unwrap();
            let mut count = 0;
            while rows.next().unwrap().is_some() {
                count += 1;
            }
            assert_eq!(count, 2, "{name}, pass {pass}");
        }
    }
}

#[test]
fn svmlight_rows_are_sparse_and_packed_files_unpacked() {
    let rows = all(b"# head\n1 2:0.5 7:1e3 # tail\n\n-1\n", RowFormat::Svmlight).unwrap();
    assert_eq!(
        rows,
        [(2, vec!["1".into(), "2:0.5".into(), "7:1000".into()]), (4, vec!["-1".into()])]
    );
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"1,2\n3,4\n").unwrap();
    let packed = packed.finish().unwrap();
    assert_eq!(all(&packed, RowFormat::Text(b',')).unwrap().len(), 2);
}

/// Columns of every width hold the same numbers, text and categories alike.
#[test]
fn parquet_has_types_and_holes() {
    use mercer_parquet::Compression;
    use polars_core::prelude::{DataFrame, NamedFrom, Series};
    let columns = vec![
        Series::new("narrow".into(), [Some(0.5f32), None, Some(f32::NAN)]).into(),
        Series::new("wide".into(), [0.5f64, -1.25, 3.0]).into(),
        Series::new("whole".into(), [1i64, -2, 3]).into(),
        Series::new("kind".into(), [Some("box"), Some("ball"), None]).into(),
    ];
    let frame = DataFrame::new(3, columns).unwrap();
    let mut bytes = Vec::new();
    mercer_parquet::write(&frame, Compression::Zstd(None), &mut bytes).unwrap();
    let rows = all(&bytes, RowFormat::Parquet).unwrap();
    assert_eq!(rows[0], (1, vec!["0.5".into(), "0.5".into(), "1".into(), "box".into()]));
    assert_eq!(rows[1].1, ["", "-1.25", "-2", "ball"]);
    assert_eq!(rows[2].1, ["", "3", "3", ""]);
    let file = RowFile::spooled(bytes.as_slice(), "f", Some(RowFormat::Parquet)).unwrap();
    assert_eq!(file.rows().unwrap().names().unwrap(), ["narrow", "wide", "whole", "kind"]);
}

/// Found by the fuzz driver: made room for, such a page ends the process.
#[test]
fn a_page_of_fewer_values_than_none_is_refused_before_it_is_decoded() {
    let bytes = include_bytes!("../../tests/fixtures/page-of-minus-values.parquet");
    let error = all(bytes, RowFormat::Parquet).unwrap_err().to_string();
    assert!(error.contains("is damaged: its pages do not fit its footer"), "{error}");
}

#[test]
fn the_first_line_tells_the_separator_unless_it_is_given() {
    for (text, format) in [
        ("a;b\n1;2\n", b';'),
        ("a\tb\n1\t2\n", b'\t'),
        ("a;b,c\n1;2,3\n", b','),
        ("\"a;b\",c\n1,2\n", b','),
        ("\"a,b\";c\n1;2\n", b';'),
        ("a\n1\n", b','),
    ] {
        let file = RowFile::spooled(text.as_bytes(), "f", None).unwrap();
        assert_eq!(file.format(), RowFormat::Text(format), "{text:?}");
    }
    let given = RowFile::spooled(&b"a;b\n"[..], "f", Some(RowFormat::Text(b','))).unwrap();
    assert_eq!(given.format(), RowFormat::Text(b','));
}

#[test]
fn the_suffix_tells_the_format() {
    for (name, format) in [
        ("a.csv.gz", Some(RowFormat::Text(b','))),
        ("A.TSV", Some(RowFormat::Text(b'\t'))),
        ("x.libsvm", Some(RowFormat::Svmlight)),
        ("x.parquet", Some(RowFormat::Parquet)),
        ("csv", None),
        ("a.json", None),
    ] {
        assert_eq!(by_suffix(Path::new(name)), format, "{name}");
    }
}

/// Blanks in quotes are of a text; a number, a name of nothing and a field without quotes have none.
#[test]
fn blanks_in_quotes_are_kept() {
    let text = b"\" a\", \"b \" ,\" 1.5 \",\" NA\", c \n";
    let rows = all(text, RowFormat::Text(b',')).unwrap();
    assert_eq!(rows[0].1, [" a", "b ", "1.5", "", "c"]);
    for (text, fields) in [
        ("{\"x\":\" a\",\"y\":\" 1.5 \"}\n", [" a", "1.5"]),
        (
            "@relation r\n@attribute x {' a', b}\n@attribute y string\n@data\n' a', c \n",
            [" a", "c"],
        ),
    ] {
        let file = RowFile::spooled(text.as_bytes(), "f", None).unwrap();
        let mut rows = file.rows().unwrap();
        let Some((_, Row::Fields(own))) = rows.next().unwrap() else { panic!("a row") };
        assert_eq!([0, 1].map(|at| own.field(at).text()), fields);
    }
    let blanks = all(b"\"x y\"  2 \n", RowFormat::Text(BLANKS)).unwrap();
    assert_eq!(blanks[0].1, ["x y", "2"]);
}

#[test]
fn more_lines_are_skipped_than_there_are() {
    let file = RowFile::spooled(&b"1,2\n3,4\n"[..], "f", None).unwrap();
    let file = file.skipping(usize::MAX, None).unwrap();
    assert!(file.rows().unwrap().next().unwrap().is_none());
}

#[test]
fn a_decimal_comma_is_a_point_where_it_was_asked_for() {
    for (field, read) in [
        ("3,5", "3.5"),
        ("-1.234.567,25", "-1234567.25"),
        ("\u{2212},5", "\u{2212}0.5"),
        ("1.234", "1234"),
        ("1 234,5", "1234.5"),
        ("1'234,5", "1234.5"),
        ("-1\u{202f}234", "-1234"),
        ("1 23,4", "1 23,4"),
        ("2,5e-3", "2.5e-3"),
        ("7", "7"),
        ("27.11.2026", "27.11.2026"),
        ("1.23,4", "1.23,4"),
        ("a,b", "a,b"),
        ("1,2,3", "1,2,3"),
        ("", ""),
    ] {
        let text = format!("{field};x\n");
        let file = RowFile::spooled(text.as_bytes(), "f", None).unwrap();
        let file = file.with_decimal_comma().unwrap();
        let mut rows = file.rows().unwrap();
        let Some((_, Row::Fields(fields))) = rows.next().unwrap() else { panic!("{field}") };
        assert_eq!((fields.field(0).text(), fields.field(1).text()), (read.into(), "x".into()));
    }
}

/// A point that begins decimals would be a thousand times another number.
#[test]
fn a_point_that_begins_decimals_is_refused_beside_decimal_commas() {
    for field in ["12.5", "0.123", "1.2345", "1234.567", "-.5"] {
        let text = format!("{field};x\n");
        let file = RowFile::spooled(text.as_bytes(), "f", None).unwrap();
        let file = file.with_decimal_comma().unwrap();
        let error = file.rows().unwrap().next().unwrap_err().to_string();
        assert!(error.contains(&format!("has `{field}`, whose point")), "{error}");
    }
    let json = RowFile::spooled(&b"{\"x\":1.5,\"y\":2}\n"[..], "f", None).unwrap();
    let json = json.with_decimal_comma().unwrap();
    let mut rows = json.rows().unwrap();
    let Some((_, Row::Fields(fields))) = rows.next().unwrap() else { panic!("a row") };
    assert_eq!([0, 1].map(|at| fields.field(at).number()), [Some(1.5), Some(2.0)]);
}

/// Tapes and block devices fill up with zeros; a second member may follow.
#[test]
fn zeros_behind_packed_text_are_no_member() {
    let packed = |text: &[u8]| {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    };
    let tail = [packed(b"1,2\n"), packed(b"3,4\n"), vec![0; 700]].concat();
    assert_eq!(all(&tail, RowFormat::Text(b',')).unwrap().len(), 2);
    let limits = crate::Limits::default();
    let bzip2 = |text: &[u8]| {
        let mut packer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    };
    let twice = [bzip2(b"1,2\n"), bzip2(b"3,4\n"), vec![0; 700]].concat();
    assert_eq!(all(&twice, RowFormat::Text(b',')).unwrap().len(), 2);
    assert_eq!(crate::decompress(tail, "f.gz", &limits).unwrap(), b"1,2\n3,4\n");
    let broken = [packed(b"1,2\n"), b"junk".to_vec()].concat();
    assert!(all(&broken, RowFormat::Text(b',')).is_err());
}

/// Remarks of two kinds, and the line that names the separator, stand before the table whatever else is skipped.
#[test]
fn all_that_stands_before_a_table_is_passed() {
    for (text, skipped) in [
        ("sep=;\n% a, b\nx;y\n1;2\n", 0),
        ("# made by hand\n% a, b\n# again\nx;y\n1;2\n", 0),
        ("title, long\n# made by hand\n%\nx;y\n1;2\n", 1),
    ] {
        let file = RowFile::spooled(text.as_bytes(), "f.csv", None).unwrap();
        let file = file.skipping(skipped, Some(b'%')).unwrap();
        let mut rows = file.rows().unwrap();
        let (line, row) = rows.next().unwrap().unwrap();
        let Row::Fields(fields) = row else { panic!("a table") };
        assert_eq!((fields.len(), fields.field(0).text()), (2, "x".to_owned()), "{text:?}");
        assert_eq!(line, text.lines().position(|line| line == "x;y").unwrap() + 1);
    }
}
