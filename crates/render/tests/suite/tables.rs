use mercer_render::{Cell, Column, Kind, Row, Table};
use proptest::prelude::*;

fn small() -> Table {
    Table::new("askl/table2", "Accuracy")
        .caption("Bold: best.")
        .columns([
            Column::left("Dataset"),
            Column::right("SK").under("printed"),
            Column::right("ASKL").under("printed"),
        ])
        .row(
            Row::new([
                Cell::text("a_b"),
                Cell::mean_std(89.931, 1.464, 2).repeats("7/30").badge("agrees", Kind::Good),
                Cell::mean_std(96.687, f64::NAN, 2).bold().underline(),
            ])
            .under("small"),
        )
        .row(
            Row::new([
                Cell::text("poker"),
                Cell::number(f64::NAN, 2),
                Cell::missing("data missing", "mercer data fetch poker"),
            ])
            .under("large"),
        )
        .note("λ = 10⁻³")
}

#[test]
fn latex_is_a_booktabs_table() {
    let expected = "% Needs \\usepackage{booktabs,adjustbox}.\n\\begin{table}\n\\centering\n\
        \\caption{Accuracy. Bold: best.}\n\\label{tab:askl-table2}\n\
        \\begin{adjustbox}{max width=\\textwidth, max totalheight=0.8\\textheight}\n\
        \\begin{tabular}{lrr}\n\\toprule\n\
        \x20& \\multicolumn{2}{c}{printed} \\\\\n\\cmidrule(lr){2-3}\n\
        Dataset & SK & ASKL \\\\\n\\midrule\n\
        \\multicolumn{3}{l}{\\textit{small}} \\\\\n\
        a\\_b & 89.93$\\pm$1.46 {\\tiny 7/30} {\\scriptsize agrees} & \\underline{\\textbf{96.69}} \\\\\n\
        \\midrule\n\\multicolumn{3}{l}{\\textit{large}} \\\\\n\
        poker & - & - {\\scriptsize data missing} \\\\\n &  & {\\tiny mercer data fetch poker} \\\\\n\
        \\bottomrule\n\\end{tabular}\n\\end{adjustbox}\n\
        \\par\\smallskip{\\footnotesize $\\lambda$ = 10$^{-}$$^{3}$}\n\\end{table}\n";
    assert_eq!(small().to_latex(), expected);
}

#[test]
fn markdown_is_a_pipe_table() {
    let expected = "**Accuracy**\n\nBold: best.\n\n\
        | Dataset | SK | ASKL |\n| :-- | --: | --: |\n\
        | *small* |  |  |\n\
        | a\\_b | 89.93±1.46 (7/30) ✓ | **<u>96.69</u>** |\n\
        | *large* |  |  |\n\
        | poker | - | - data missing |\n\
        \n✓ agrees\n\
        \n- Columns under *printed*: SK · ASKL.\n- λ = 10⁻³\n\
        - The page shows more at a click on a cell; [table2.csv](table2.csv) has it too.\n";
    assert_eq!(small().to_markdown(), expected);
}

#[test]
fn csv_has_columns_for_what_stands_beside_the_numbers() {
    let expected = "section,Dataset,printed: SK,printed: SK repeats,printed: SK verdict,printed: ASKL,printed: ASKL verdict,printed: ASKL note\r\n\
        small,a_b,89.93±1.46,7/30,agrees,96.69,,\r\n\
        large,poker,-,,,-,data missing,mercer data fetch poker\r\n";
    assert_eq!(small().to_csv(), expected);
}

#[test]
fn html_marks_heads_and_sections_and_carries_the_numbers_to_sort_by() {
    let html = small().to_html();
    for part in [
        "<figure class=\"table\" id=\"askl-table2\">",
        "<th colspan=\"2\" scope=\"colgroup\">printed</th>",
        "<th colspan=\"3\" scope=\"rowgroup\">small</th>",
        "<th scope=\"row\">a_b</th>",
        "<td data-sort=\"89.931\">89.93±1.46",
        "<strong><u>96.69</u></strong>",
        "<td class=\"right\">-</td>",
    ] {
        assert!(html.contains(part), "{part} in\n{html}");
    }
}

#[test]
#[should_panic(expected = "row 0 of table \"t\" must have a cell a column")]
fn a_ragged_table_is_refused() {
    Table::new("t", "T").columns([Column::left("a")]).row(Row::new([])).to_csv();
}

/// A reader of RFC 4180, as plain as can be.
fn read_csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\r' if !quoted && chars.peek() == Some(&'\n') => {
                chars.next();
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            c => field.push(c),
        }
    }
    rows
}

/// A table with one text in every place that takes text.
fn everywhere(text: &str) -> Table {
    let cell = Cell::text(text).detail(text).badge(text, Kind::Bad).repeats(text).link(text);
    Table::new("id", text)
        .caption(text)
        .columns([Column::left(text), Column::right(text).under(text)])
        .row(Row::new([cell.clone().bold(), cell.underline()]).under(text))
        .note(text)
}

/// Markup without content: tags with the values of their attributes left out.
fn skeleton(html: &str) -> Vec<String> {
    let tags = html.split('<').skip(1).map(|rest| rest.split_once('>').expect("a closed tag").0);
    tags.map(|tag| tag.split('"').step_by(2).collect()).collect()
}

/// `{` less `}` after taking out escaped characters; `None` if it was ever negative.
fn depth(latex: &str) -> Option<i32> {
    let mut depth = 0;
    let mut chars = latex.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return None;
        }
    }
    Some(depth)
}

fn bars(line: &str) -> usize {
    let escaped = line.replace("\\\\", "").replace("\\|", "");
    escaped.matches('|').count()
}

/// Any characters, those that mean something in one of the languages often among them.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[\\\\{}$&#_%~^<>|\"'`*\\[\\],;\r\n±λ-]{0,12}", ".{0,12}", "[ -~]{0,12}"]
}

proptest! {
    #[test]
    fn any_text_survives_csv(text in text()) {
        let rows = read_csv(&everywhere(&text).to_csv());
        prop_assert_eq!(rows.len(), 2);
        prop_assert_eq!(rows[1].len(), 9);
        prop_assert!(rows[1].iter().all(|field| *field == text), "{:?}", rows[1]);
    }

    #[test]
    fn no_text_unbalances_latex(text in text()) {
        let latex = everywhere(&text).to_latex();
        prop_assert_eq!(depth(&latex), Some(0), "{}", latex);
        prop_assert!(!latex.contains("\n\n"), "a paragraph would end the caption: {latex:?}");
    }

    /// But what stands between backticks, which is code.
    #[test]
    fn no_text_becomes_markup_in_html(text in text()) {
        // A link needs a target, so an empty text has one element fewer.
        prop_assume!(!text.trim().is_empty());
        let plain = skeleton(&everywhere("x").to_html());
        let html = everywhere(&text).to_html().replace("<code>", "").replace("</code>", "");
        prop_assert_eq!(skeleton(&html), plain);
    }

    #[test]
    fn no_text_adds_a_column_to_markdown(text in text()) {
        let plain = everywhere("x").to_markdown();
        let shown = everywhere(&text).to_markdown();
        let bars = |markdown: &str| {
            markdown.lines().map(bars).filter(|count| *count > 0).collect::<Vec<_>>()
        };
        prop_assert_eq!(bars(&shown), bars(&plain), "{}", shown);
    }

    #[test]
    fn numbers_are_never_nan_or_negative_zero(value in proptest::num::f64::ANY, digits in 0..6usize) {
        let text = mercer_render::number(value, digits);
        prop_assert!(!text.contains("NaN") && !text.contains("inf"));
        prop_assert!(text == "-" || text.parse::<f64>().is_ok_and(|read| read != 0.0 || read.is_sign_positive()));
    }
}
