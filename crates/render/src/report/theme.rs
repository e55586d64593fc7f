//! Colours of the page, light and dark, in one place: the style sheet and the test of their
//! contrast both read them here.

use crate::canvas::{CARD, FRAME, GRID, INK, MUTED, PANE};
use std::fmt::Write;

/// Name, light, dark.
pub(super) const COLORS: [(&str, &str, &str); 21] = [
    ("page", "#ffffff", "#0d1117"),
    ("pane", "#f3f6fa", "#1b222c"),
    ("plot", "#ffffff", "#141a22"),
    ("text", "#1f2328", "#e6edf3"),
    ("quiet", "#57606a", "#9da7b3"),
    ("link", "#0550ae", "#79b8ff"),
    ("line", "#d0d7de", "#3a424d"),
    ("grid", "#e6e9ed", "#29313b"),
    ("frame", "#8c959f", "#768390"),
    ("good", "#06406b", "#8cc8ff"),
    ("good-ground", "#d6eafb", "#0e2c48"),
    ("bad", "#7a1f00", "#ffb59e"),
    ("bad-ground", "#fbd5c3", "#4f1d0c"),
    ("explained", "#5c4200", "#f2d27a"),
    ("explained-ground", "#fdeccb", "#3d2f00"),
    ("shown", "#5a3300", "#ffc27a"),
    ("shown-ground", "#fbd08f", "#4d3008"),
    ("neutral", "#3d4650", "#c9d1d9"),
    ("neutral-ground", "#eceff2", "#2a313a"),
    ("muted", "#39414a", "#c9d1d9"),
    ("muted-ground", "#cfd5db", "#424b56"),
];

/// The variables of the style sheet, and the rules that give a figure's neutral colours, by their
/// value in the drawing, the page's.
pub(super) fn css() -> String {
    let set = |dark: bool| {
        COLORS.iter().fold(String::new(), |mut out, (name, light_color, dark_color)| {
            let color = if dark { dark_color } else { light_color };
            let _ = write!(out, "--{name}:{color};");
            out
        })
    };
    let (light, dark) = (set(false), set(true));
    let mut out = format!(
        ":root{{color-scheme:light;{light}}}\n\
         @media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n\
         :root[data-theme=dark]{{color-scheme:dark;{dark}}}\n\
         @media print{{:root[data-theme][data-theme]{{color-scheme:light;{light}}}}}\n"
    );
    let neutral = [
        (CARD, "plot"),
        (INK, "text"),
        (MUTED, "quiet"),
        (GRID, "grid"),
        (FRAME, "frame"),
        (PANE, "pane"),
    ];
    for (color, name) in neutral {
        let hex = format!("#{:02X}{:02X}{:02X}", color.0, color.1, color.2);
        for property in ["fill", "stroke"] {
            // Without an ancestor: a panel that is shown alone is a copy that has none.
            let _ = writeln!(out, "[{property}=\"{hex}\"]{{{property}:var(--{name})}}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::PALETTE;

    /// Relative luminance of sRGB (WCAG 2.1).
    fn luminance(rgb: [u8; 3]) -> f64 {
        let [r, g, b] = rgb.map(|channel| {
            let c = f64::from(channel) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    fn contrast(a: [u8; 3], b: [u8; 3]) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// The colour that the written style sheet gives a variable, light or dark.
    fn variable(name: &str, dark: bool) -> [u8; 3] {
        let css = css();
        let rule = if dark { ":root[data-theme=dark]{" } else { ":root{" };
        let rule = css.split_once(rule).unwrap().1.split_once('}').unwrap().0;
        let value =
            rule.split(';').find_map(|pair| pair.strip_prefix(&format!("--{name}:"))).unwrap();
        [1, 3, 5].map(|at| u8::from_str_radix(&value[at..at + 2], 16).unwrap())
    }

    #[test]
    fn contrast_of_black_and_white_is_21() {
        assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 1e-12);
    }

    #[test]
    fn every_text_has_a_contrast_of_at_least_4_5_in_both_schemes() {
        let mut pairs = vec![];
        for ground in ["page", "pane", "plot"] {
            pairs
                .extend(["text", "quiet", "link"].map(|text| (text.to_owned(), ground.to_owned())));
        }
        for kind in ["good", "bad", "explained", "shown", "neutral", "muted"] {
            pairs.push((kind.to_owned(), format!("{kind}-ground")));
        }
        for dark in [false, true] {
            for (text, ground) in &pairs {
                let contrast = contrast(variable(text, dark), variable(ground, dark));
                assert!(contrast >= 4.5, "{text} on {ground}, dark {dark}: {contrast:.2}");
            }
        }
    }

    #[test]
    fn lines_of_figures_stand_out_in_both_schemes() {
        for dark in [false, true] {
            let ground = variable("plot", dark);
            for color in PALETTE {
                let contrast = contrast([color.0, color.1, color.2], ground);
                assert!(contrast >= 3.0, "{color:?}, dark {dark}: {contrast:.2}");
            }
        }
    }
}
