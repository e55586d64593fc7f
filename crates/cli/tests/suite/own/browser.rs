//! The pages in a browser.

use super::{place_with, toys};
use crate::browser::{browse, hold_to_the_law};
use crate::protocol::{Page, hold_to_the_reader};
use serde_json::json;
use std::fmt::Write as _;

/// The pages of `compare` and `tune` keep what the report keeps, in the same browser.
#[test]
fn in_a_browser_pages_of_own_data_keep_the_laws_of_every_page() {
    let place = place_with(&[("a.csv", &toys(45)), ("b.csv", &toys(60))]);
    for (line, page) in [
        ("compare --methods kernel-ridge,majority --data a.csv --report one.html", "one.html"),
        (
            "compare --methods kernel-ridge,majority --data a.csv,b.csv --report two.html",
            "two.html",
        ),
        ("tune --method kernel-ridge --data a.csv --budget 3 --report tune.html", "tune.html"),
    ] {
        place.run(line).with_code(0);
        let html = std::fs::read_to_string(place.path(page)).unwrap();
        hold_to_the_law(&html);
        hold_to_the_reader(&html);
    }
}

/// The pages of `evaluate` and `compare` show the test rows: curves and calibration of two classes, curves of each of
/// three against the rest, residuals of numbers, each with words for who cannot see it; on a phone their letters are
/// at least 9 pixels high and nothing of them is cut off.
#[test]
fn in_a_browser_figures_of_the_test_rows_are_read_on_a_phone() {
    let (mut classes, mut numbers) = ("a,b,kind\n".to_owned(), "a,b,y\n".to_owned());
    for i in 0..90 {
        let wave = |k: usize| ((i * k) as f64 * 0.618).sin();
        let kind = if wave(3) + 0.7 * wave(7) > 0.2 { "good" } else { "bad" };
        writeln!(classes, "{:.3},{:.3},{kind}", wave(3), wave(11)).unwrap();
        writeln!(numbers, "{:.3},{:.3},{:.3}", wave(3), wave(11), wave(3) + 0.1 * wave(5)).unwrap();
    }
    let place = place_with(&[("two.csv", &classes), ("three.csv", &toys(60)), ("y.csv", &numbers)]);
    place.run("fit --method rf --data two.csv --out m").with_code(0);
    let has_browser = browse("<body></body>", "", "return 1;").is_some();
    let curves = ["roc", "precision-recall"];
    for (line, figures, said) in [
        (
            "evaluate --method gaussian-process --data two.csv --folds 3 --repeats 1",
            [&curves[..], &["calibration"]].concat(),
            "Share of good found at 10 % false alarms: ",
        ),
        ("evaluate m --data two.csv", curves.to_vec(), "Average precision for good: rf-ridge 0."),
        (
            "compare --methods kernel-ridge,majority --data three.csv --folds 3",
            curves.to_vec(),
            "kernel-ridge, cone: 100 %",
        ),
        (
            "compare --methods kernel-ridge,mean --data y.csv --folds 3 --importance --learning-curve",
            vec!["residuals", "learning-curve", "importance"],
            "The middle half of the residuals: kernel-ridge from -",
        ),
    ] {
        place.run(&format!("{line} --report page.html --force")).with_code(0);
        let html = std::fs::read_to_string(place.path("page.html")).unwrap();
        assert!(html.contains(said), "{line}: {said}");
        let confusion = html.contains("id=\"confusion\"");
        assert_eq!(confusion, figures[0] != "residuals", "{line}");
        hold_to_the_law(&html);
        if !has_browser {
            continue;
        }
        let mut page = Page::open(&html);
        page.window(360, 800);
        for figure in figures {
            let svg = format!("document.querySelector('#{figure} svg')");
            let words = page.value(&format!("{svg}.ariaLabel.length"));
            assert!(words.as_u64().unwrap() > 40, "{line}, {figure}: {words} letters");
            let cut = page.value(&format!(
                "{svg}.closest('.scroll').scrollWidth - {svg}.closest('.scroll').clientWidth"
            ));
            assert_eq!(cut, 0, "{line}, {figure}");
            // The letters of ticks are 11 high at full size.
            let scale = page.value(&format!("{svg}.getBoundingClientRect().width / 340"));
            assert!(11.0 * scale.as_f64().unwrap() >= 9.0, "{line}, {figure}: {scale}");
        }
    }
}

/// On a window of 1200 pixels no table is cut, with every metric that there is, and on one of 400 none is
/// wider than what scrolls.
#[test]
fn in_a_browser_all_metrics_stand_beside_each_other() {
    let mut text = "size,weight,kind\n".to_owned();
    for i in 0..80 {
        let wave = |k: usize| ((i * k) as f64 * 0.618).sin();
        let kind = if wave(3) + 0.7 * wave(7) > 0.2 { "good" } else { "bad" };
        writeln!(text, "{:.3},{:.3},{kind}", wave(3), wave(11)).unwrap();
    }
    let place = place_with(&[("noisy.csv", &text)]);
    let methods = "gaussian-process,rf,kernel-ridge,gaussian-svm,majority";
    let line = format!("compare --methods {methods} --data noisy.csv --folds 3 --repeats 1");
    place.run(&format!("{line} --report wide.html")).with_code(0);
    let html = std::fs::read_to_string(place.path("wide.html")).unwrap();
    for head in ["accuracy, %", "auc", "balanced accuracy, %", "brier", "log loss", "mean rank"] {
        assert!(html.contains(&format!(">{head}</button>")), "{head}");
    }
    if browse(&html, "", "return 1;").is_none() {
        return;
    }
    let mut page = Page::open(&html);
    for (width, question) in [
        (
            1200,
            "[...document.querySelectorAll('.scroll')].filter((box) => box.scrollWidth > box.clientWidth)",
        ),
        (400, "[document.documentElement].filter((all) => all.scrollWidth > all.clientWidth)"),
    ] {
        page.window(width, 900);
        let cut = page.value(&format!("{question}.map((box) => box.ariaLabel ?? 'the page')"));
        assert_eq!(cut, json!([]), "on {width} pixels");
    }
}
