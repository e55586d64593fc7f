//! What plotters writes as SVG, in half of the bytes and the same picture.

use std::fmt::Write;

/// An opaque line or rectangle: what it is painted with, and its outline as a path.
struct Stroke<'a> {
    paint: (&'a str, &'a str, &'a str),
    outline: String,
}

/// The elements of a body, one a line, with neighbours that are painted alike in one path.
///
/// A dashed line is an element a dash and a map one a pixel, each with its own colour and width: eight of ten
/// bytes of most figures. Opaque neighbours of one colour may share an element, since nothing shows how often a
/// point is painted. Coordinates are whole numbers and stay so; within a line they are written as steps. What is
/// transparent, and what is not known here, is left as it is.
pub(crate) fn condensed(body: &str) -> String {
    let mut out = String::with_capacity(body.len() / 2);
    let mut lines = body.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let Some(Stroke { paint, mut outline }) = line_or_rectangle(line) else {
            if line.starts_with('<') {
                out.push_str(&line.replace(OPAQUE, "").replace(FONT, ""));
            } else {
                out.push_str(line); // somebody's words
            }
            continue;
        };
        let mut count = 1;
        while let Some(next) = lines.peek().and_then(|line| line_or_rectangle(line)) {
            if next.paint != paint {
                break;
            }
            outline.push_str(&next.outline);
            count += 1;
            lines.next();
        }
        if count == 1 && line.starts_with("<rect") {
            out.push_str(&line.replace(OPAQUE, ""));
            continue;
        }
        let (fill, stroke, width) = paint;
        let _ = write!(out, "<path fill=\"{fill}\" stroke=\"{stroke}\"");
        if stroke != "none" {
            let _ = write!(out, " stroke-width=\"{width}\"");
        }
        let _ = writeln!(out, " d=\"{outline}\"/>");
    }
    out
}

/// Said once, on the root element, of which every text inherits it.
pub(crate) const FONT: &str = " font-family=\"sans-serif\"";

/// What every element is that does not say otherwise.
const OPAQUE: &str = " opacity=\"1\"";

/// What a line of the body paints, if it is opaque and one of the two.
fn line_or_rectangle(line: &str) -> Option<Stroke<'_>> {
    let element = line.trim_end().strip_prefix('<')?.strip_suffix("/>")?;
    let (name, attributes) = element.split_once(' ')?;
    let value = |name: &str| {
        let (_, rest) = attributes.split_once(&format!("{name}=\""))?;
        rest.split_once('"').map(|(value, _)| value)
    };
    if value("opacity")? != "1" {
        return None;
    }
    let (fill, stroke) = (value("fill")?, value(" stroke")?);
    let mut outline = String::new();
    let width = match name {
        "polyline" if fill == "none" => {
            let mut at = None;
            for point in value("points")?.split_whitespace() {
                let (x, y) = point.split_once(',')?;
                let (x, y): (i64, i64) = (x.parse().ok()?, y.parse().ok()?);
                let _ = match at {
                    None => write!(outline, "M{x},{y}l"),
                    // A minus sign parts two numbers by itself.
                    Some((left, top)) => match (x - left, y - top) {
                        (dx, dy) if dx < 0 || outline.ends_with('l') => {
                            write!(outline, "{dx},{dy}")
                        }
                        (dx, dy) => write!(outline, " {dx},{dy}"),
                    },
                };
                at = Some((x, y));
            }
            // A line of no points shows nothing, one of a single point a dot at most.
            outline.ends_with(|last: char| last.is_ascii_digit()).then_some(())?;
            value("stroke-width")?
        }
        "rect" if stroke == "none" => {
            let side = |name| value(name)?.parse::<i64>().ok();
            let (x, y, w, h) = (side("x")?, side(" y")?, side("width")?, side("height")?);
            let _ = write!(outline, "M{x},{y}h{w}v{h}h{}z", -w);
            ""
        }
        _ => return None,
    };
    Some(Stroke { paint: (fill, stroke, width), outline })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DASH: &str =
        "<polyline fill=\"none\" opacity=\"1\" stroke=\"#E69F00\" stroke-width=\"20\" points=";

    #[test]
    fn dashes_of_one_line_are_one_path_of_steps() {
        let body = format!(
            "{DASH}\"10,20 13,18 9,18 \"/>\n{DASH}\"30,40 30,45 \"/>\n<circle r=\"3\" opacity=\"0.5\"/>\n{DASH}\"1,2 3,4 \"/>\n"
        );
        let expected = "<path fill=\"none\" stroke=\"#E69F00\" stroke-width=\"20\" d=\"M10,20l3,-2-4,0M30,40l0,5\"/>\n\
            <circle r=\"3\" opacity=\"0.5\"/>\n\
            <path fill=\"none\" stroke=\"#E69F00\" stroke-width=\"20\" d=\"M1,2l2,2\"/>\n";
        assert_eq!(condensed(&body), expected);
    }

    #[test]
    fn rectangles_of_one_colour_are_one_path_and_a_single_one_stays() {
        let pixel = |x: u8, fill: &str| {
            format!(
                "<rect x=\"{x}\" y=\"7\" width=\"5\" height=\"6\" opacity=\"1\" fill=\"{fill}\" stroke=\"none\"/>\n"
            )
        };
        let body = [pixel(0, "#010203"), pixel(5, "#010203"), pixel(10, "#FFFFFF")].concat();
        assert_eq!(
            condensed(&body),
            "<path fill=\"#010203\" stroke=\"none\" d=\"M0,7h5v6h-5zM5,7h5v6h-5z\"/>\n\
             <rect x=\"10\" y=\"7\" width=\"5\" height=\"6\" fill=\"#FFFFFF\" stroke=\"none\"/>\n"
        );
    }

    #[test]
    fn what_is_transparent_or_otherwise_painted_stays_apart() {
        let faint = DASH.replace("opacity=\"1\"", "opacity=\"0.4\"");
        let body = format!("{faint}\"0,0 5,5 \"/>\n{faint}\"5,5 0,9 \"/>\n");
        assert_eq!(condensed(&body), body);
        let wide = DASH.replace("width=\"20\"", "width=\"30\"");
        let body = format!("{DASH}\"0,0 5,5 \"/>\n{wide}\"5,5 0,9 \"/>\n");
        assert_eq!(condensed(&body).matches("<path").count(), 2);
    }

    #[test]
    fn texts_leave_their_font_to_the_root() {
        let text = "<text x=\"1\" y=\"2\" font-family=\"sans-serif\" font-size=\"110\" opacity=\"1\" fill=\"#57606A\">\na\n</text>\n";
        let expected = "<text x=\"1\" y=\"2\" font-size=\"110\" fill=\"#57606A\">\na\n</text>\n";
        assert_eq!(condensed(text), expected);
    }
}
