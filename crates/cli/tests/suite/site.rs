//! The committed pages: links, and what a browser makes of them.

use crate::browser::{browse, hold_to_the_law};
use crate::protocol::Page;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn reports() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reports").canonicalize().unwrap()
}

/// Every page below a folder: its path and its text.
fn pages(folder: &Path) -> BTreeMap<PathBuf, String> {
    let files = crate::place::files(folder).into_iter();
    let pages = files.filter(|file| file.extension().is_some_and(|end| end == "html"));
    pages.map(|file| (file.clone(), std::fs::read_to_string(file).unwrap())).collect()
}

/// Links and images of the pages below a folder that lead nowhere.
pub fn broken(folder: &Path) -> Vec<String> {
    let pages = pages(folder);
    let mut broken = Vec::new();
    for (file, page) in &pages {
        let name = file.strip_prefix(folder).unwrap().display();
        let targets = [" href=\"", " src=\"", " data-to=\""].map(|mark| page.split(mark).skip(1));
        for target in targets.into_iter().flatten() {
            let target = target.split('"').next().unwrap();
            if ["https://", "http://", "mailto:", "data:"].iter().any(|own| target.starts_with(own))
            {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let other = match path {
                "" => file.clone(),
                path => file.parent().unwrap().join(path),
            };
            let found = other.canonicalize().ok();
            let there = match (&found, anchor) {
                (None, _) => false,
                (Some(_), "") => true,
                (Some(found), anchor) => {
                    pages.get(found).is_some_and(|page| page.contains(&format!(" id=\"{anchor}\"")))
                }
            };
            if !there {
                broken.push(format!("{name}: {target}"));
            }
        }
        if !page.contains("index.html\"") {
            broken.push(format!("{name}: no link to the first page"));
        }
    }
    broken
}

#[test]
fn every_link_of_the_committed_pages_leads_somewhere() {
    let folder = reports();
    assert!(pages(&folder).len() >= 15, "the site has a page a paper, and more");
    assert_eq!(broken(&folder), [""; 0]);
    for (file, page) in pages(&folder) {
        assert!(!page.contains("<a>"), "{}: it links to what no page has", file.display());
        let titles = page.split("<figcaption><h3>").skip(1);
        let titles: Vec<&str> = titles.filter_map(|rest| rest.split("</h3>").next()).collect();
        let different: BTreeSet<&str> = titles.iter().copied().collect();
        assert_eq!(
            different.len(),
            titles.len(),
            "{}: one title twice: {titles:?}",
            file.display()
        );
    }
}

/// What a page must not do at any width: scroll sideways, lack an image, write badges too small, filter nothing.
const LOOK: &str = r#"(() => {
const root = document.documentElement;
const faults = [];
if (root.scrollWidth > root.clientWidth) {
  const wide = [...document.body.querySelectorAll("*")].filter((element) => !element.parentElement.closest(".scroll")
    && element.getBoundingClientRect().right > root.clientWidth + 1);
  faults.push("sideways " + root.scrollWidth + ": " + wide.map((e) => e.tagName + "." + e.className).slice(-3).join(", "));
}
for (const image of document.images) if (!image.naturalWidth) faults.push("no image " + image.src);
for (const element of document.querySelectorAll(".badge, small")) {
  const size = parseFloat(getComputedStyle(element).fontSize);
  if (size < 12.5) { faults.push("letters of " + size + " pixels: " + element.textContent.slice(0, 40)); break; }
}
const box = document.getElementById("filter");
if (box) {
  const shown = () => [...document.querySelectorAll("figure.table tbody tr:not(.section), details.finding")]
    .filter((row) => !row.hidden).length;
  const type = (text) => { box.value = text; box.dispatchEvent(new Event("input")); return shown(); };
  const [before, none, after] = [shown(), type("no such row anywhere"), type("")];
  if (!before || none || after !== before) faults.push("the filter shows " + [before, none, after]);
}
return faults;
})()"#;

/// What a figure must not do on a phone: show nothing, scroll sideways, write letters smaller than 11 pixels. A single
/// letter may be raised or lowered.
const FIGURES: &str = r#"(() => {
const faults = [];
const edge = document.documentElement.clientWidth + 1;
for (const figure of document.querySelectorAll("figure.plot")) {
  const drawn = [...figure.querySelectorAll("svg")].filter((svg) => svg.getBoundingClientRect().width && !svg.closest("li"));
  if (!drawn.length) faults.push(figure.id + " shows nothing");
  for (const svg of drawn) {
    const box = svg.getBoundingClientRect();
    if (box.left < 0 || box.right > edge) faults.push(figure.id + " scrolls to " + box.right);
    const use = svg.querySelector("use");
    const texts = [...(use ? document.getElementById(use.getAttribute("href").slice(1)) : svg).querySelectorAll("text")];
    const scale = box.width / svg.viewBox.baseVal.width;
    const sizes = texts.filter((text) => text.textContent.trim().length > 1)
      .map((text) => scale * parseFloat(text.getAttribute("font-size")));
    if (!(Math.min(...sizes) >= 11)) faults.push(figure.id + " has letters of " + Math.min(...sizes) + " pixels");
  }
}
return faults;
})()"#;

/// The variants that a table shows where one was chosen.
const TUNED: &str = r#"(() => {
const names = () => {
  const rows = [...document.querySelectorAll("[id=askl-table2] tbody tr:not(.section)")].filter((row) => !row.hidden);
  return [...new Set(rows.map((row) => row.cells[0].textContent.trim()))].sort();
};
const first = names();
[...document.querySelectorAll("[id=askl-table2] .variants button")].find((one) => one.textContent === "tuned").click();
return [first, names()];
})()"#;

/// The numbers of the chosen variant, dataset after dataset, once the table is sorted by a method; and whether the
/// published row still stands beside each.
const SORTED: &str = r#"(() => {
const figure = document.querySelector("[id=askl-table2]");
figure.querySelectorAll(".heads th")[1].querySelector("button").click();
const rows = [...figure.querySelectorAll("tbody")].map((body) => [...body.rows].filter((row) => !row.hidden));
const own = (body) => body.find((row) => row.cells[0].textContent.trim() === "tuned");
const beside = rows.every((body) => body.some((row) => row.cells[0].textContent.trim() === "published"));
return [rows.map((body) => Number(own(body).cells[1].dataset.sort)), beside];
})()"#;

/// What the drawer of a number says.
const DRAWER: &str = r#"(() => {
const summary = document.querySelector("[data-cell='askl/table2:tuned:askl:segment'] > summary");
summary.click();
const drawer = document.getElementById("drawer");
const said = [drawer.open, drawer.querySelectorAll("circle").length, drawer.textContent];
dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
return [...said, drawer.open, document.activeElement === summary];
})()"#;

/// The first page, a paper, audits, findings, methods, a chapter, the leaderboard, and a page in a folder.
const ONE_OF_EACH_KIND: [&str; 8] = [
    "index",
    "askl",
    "audits-hyper",
    "findings",
    "methods",
    "own-data",
    "leaderboard",
    "performance/index",
];

#[test]
fn in_a_browser_the_committed_pages_fit_every_window() {
    if browse("<body></body>", "", "return 1;").is_none() {
        return;
    }
    let folder = reports();
    for name in ONE_OF_EACH_KIND {
        assert!(folder.join(name).with_extension("html").is_file(), "{name}");
    }
    let mut browser = Page::start();
    let mut faults = Vec::new();
    for (file, html) in pages(&folder) {
        let name = file.strip_prefix(&folder).unwrap().display().to_string();
        browser.visit(&format!("file://{}", file.display()));
        // One style sheet lays out all pages: a phone sees each, wider windows one of each kind.
        let one_of_its_kind = ONE_OF_EACH_KIND.contains(&name.trim_end_matches(".html"));
        for width in if one_of_its_kind { vec![360, 768, 1280] } else { vec![360] } {
            browser.window(width, 900);
            let found = browser.value(LOOK);
            if found != json!([]) {
                faults.push(format!("{name} on {width} pixels: {found}"));
            }
            let found = if width == 360 { browser.value(FIGURES) } else { json!([]) };
            if found != json!([]) {
                faults.push(format!("{name}, figures on {width} pixels: {found}"));
            }
        }
        faults.extend(browser.complaints().into_iter().map(|said| format!("{name}: {said}")));
        if name == "askl.html" {
            // Which is first depends on the numbers.
            let shown = browser.value(TUNED);
            let first = [["printed", "published"], ["published", "released"]];
            assert!(
                first.iter().any(|own| shown[0] == json!(own)),
                "one variant at a time: {shown}"
            );
            assert_eq!(shown[1], json!(["published", "tuned"]), "one variant at a time");
            let sorted = browser.value(SORTED);
            let values: Vec<f64> =
                sorted[0].as_array().unwrap().iter().map(|own| own.as_f64().unwrap()).collect();
            assert!(
                values.len() == 12 && values.is_sorted() && sorted[1] == json!(true),
                "{sorted}"
            );
            let drawer = browser.value(DRAWER);
            assert_eq!((&drawer[0], &drawer[1]), (&json!(true), &json!(30)), "repeats: {drawer}");
            let text = drawer[2].as_str().unwrap_or_default();
            for part in [
                "ours minus the paper's",
                "mercer show askl/table2:tuned:askl:segment",
                "mercer reproduce askl/table2 --variant tuned --method askl --dataset segment --all",
            ] {
                assert!(text.contains(part), "{part}: {text}");
            }
            assert_eq!((&drawer[3], &drawer[4]), (&json!(false), &json!(true)), "Escape closes it");
        }
        let bytes = without_figures(&html);
        assert!(bytes <= 307_200, "{name}: {bytes} bytes without its figures");
        if name == "index.html" {
            browser.value("document.getElementById('search').focus()");
            let mut fetched = || browser.value("globalThis.PLACES ? PLACES.length : 0").as_u64();
            let tries = (0..100).find(|_| {
                std::thread::sleep(std::time::Duration::from_millis(50));
                fetched() > Some(0)
            });
            assert!(tries.is_some() && fetched() > Some(300), "places to search for");
            let mut found = |words: &str| {
                let told = json!(words);
                browser.value(&format!(
                    "(() => {{ const box = document.getElementById('search'); box.value = {told}; \
                     box.dispatchEvent(new Event('input')); \
                     return [...document.querySelectorAll('#found a')].map((own) => own.getAttribute('href')); }})()"
                ))
            };
            for (words, address) in [
                ("kernel ridge regression method", "methods.html#"),
                ("weights frozen output", "findings.html#finding-askl-frozen"),
                ("add a baseline", "extend.html#"),
            ] {
                let seen = found(words).to_string();
                assert!(seen.contains(address), "{words}: {seen}");
            }
            assert_eq!(found("no-such-word"), json!([]));
            found("");
            assert!(html.len() <= 60_000, "{} bytes", html.len());
            let seen = browser.value(
                "[document.querySelector('pre').getBoundingClientRect().bottom, \
                 document.body.innerText.split(/\\s+/).filter(Boolean).length]",
            );
            assert!(
                seen[0].as_f64().unwrap() <= 900.0,
                "the commands are on the first screen: {seen}"
            );
            assert!(seen[1].as_u64().unwrap() <= 295, "words of the first page: {seen}");
        }
    }
    assert_eq!(faults, [""; 0]);
}

/// Bytes of a page, its figures left out; the small plots of claims count.
fn without_figures(html: &str) -> usize {
    let figures = html.split("<svg ").skip(1).filter(|own| !own.starts_with("class=\"pair\""));
    let inside = figures.filter_map(|own| own.find("</svg>")).sum::<usize>();
    html.len() - inside
}

/// So do the laws of every page hold on those that have tables of their own.
#[test]
fn in_a_browser_the_committed_pages_keep_the_laws_of_every_page() {
    for name in ["index", "askl", "audits-hyper", "findings", "method"] {
        let page = std::fs::read_to_string(reports().join(name).with_extension("html")).unwrap();
        hold_to_the_law(&page);
    }
}
