use super::{Align, Cell, Table};
use crate::escape::{address, latex};
use std::fmt::Write;

pub(super) fn table(table: &Table) -> String {
    let mut out =
        String::from("% Needs \\usepackage{booktabs,adjustbox}.\n\\begin{table}\n\\centering\n");
    let caption = [&table.title, &table.caption].map(|text| latex(text));
    let caption =
        caption.iter().filter(|text| !text.is_empty()).map(|text| text.trim_end_matches('.'));
    let caption = caption.collect::<Vec<_>>().join(". ");
    let _ = writeln!(out, "\\caption{{{caption}.}}\n\\label{{tab:{}}}", address(&table.id));
    let spec: String = table.columns.iter().map(|column| letter(column.align)).collect();
    // A table of many methods or datasets is wider or longer than a page.
    out.push_str("\\begin{adjustbox}{max width=\\textwidth, max totalheight=0.8\\textheight}\n");
    let _ = writeln!(out, "\\begin{{tabular}}{{{spec}}}\n\\toprule");
    heads(table, &mut out);
    for (i, (group, rows)) in table.sections().enumerate() {
        if i > 0 {
            out.push_str("\\midrule\n");
        }
        if let Some(group) = group {
            let width = table.columns.len();
            let _ =
                writeln!(out, "\\multicolumn{{{width}}}{{l}}{{\\textit{{{}}}}} \\\\", latex(group));
        }
        for row in rows {
            let cells: Vec<_> = row.cells.iter().map(cell).collect();
            let _ = writeln!(out, "{} \\\\", cells.join(" & "));
            // Second lines stand in a small row of their own.
            if row.cells.iter().any(|cell| cell.detail.is_some()) {
                let details: Vec<_> = row.cells.iter().map(detail).collect();
                let _ = writeln!(out, "{} \\\\", details.join(" & "));
            }
        }
    }
    out.push_str("\\bottomrule\n\\end{tabular}\n\\end{adjustbox}\n");
    for note in &table.notes {
        let _ = writeln!(out, "\\par\\smallskip{{\\footnotesize {}}}", latex(note));
    }
    out.push_str("\\end{table}\n");
    out
}

fn letter(align: Align) -> char {
    match align {
        Align::Left => 'l',
        Align::Center => 'c',
        Align::Right => 'r',
    }
}

/// The spanning heads with their rules, if there are any, then the heads.
fn heads(table: &Table, out: &mut String) {
    let spans = table.spans();
    if spans.iter().any(|(group, _)| group.is_some()) {
        let (mut names, mut rules, mut first) = (Vec::new(), String::new(), 1);
        for (group, count) in spans {
            let last = first + count - 1;
            match group {
                Some(group) => {
                    names.push(format!("\\multicolumn{{{count}}}{{c}}{{{}}}", latex(group)));
                    let _ = write!(rules, "\\cmidrule(lr){{{first}-{last}}}");
                }
                None => names.extend(std::iter::repeat_n(String::new(), count)),
            }
            first = last + 1;
        }
        let _ = writeln!(out, "{} \\\\\n{rules}", names.join(" & "));
    }
    let heads: Vec<_> = table.columns.iter().map(|column| latex(&column.head)).collect();
    let _ = writeln!(out, "{} \\\\\n\\midrule", heads.join(" & "));
}

fn detail(cell: &Cell) -> String {
    cell.detail.as_ref().map_or_else(String::new, |text| format!("{{\\tiny {}}}", latex(text)))
}

fn cell(cell: &Cell) -> String {
    let mut text = latex(&cell.text);
    if cell.bold {
        text = format!("\\textbf{{{text}}}");
    }
    if cell.underline {
        text = format!("\\underline{{{text}}}");
    }
    if let Some(repeats) = &cell.repeats {
        let _ = write!(text, " {{\\tiny {}}}", latex(repeats));
    }
    if let Some(badge) = &cell.badge {
        let _ = write!(text, " {{\\scriptsize {}}}", latex(&badge.text));
    }
    text
}
