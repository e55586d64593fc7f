//! A page in headless Chromium: what a script says of it, and what every page must keep.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// What headless Chromium makes of a page after a script ran in it: the script's value, as JSON.
/// Without Chromium the test fails, unless `MERCER_NO_BROWSER` says that it is to go without: `None`.
pub fn browse(html: &str, fragment: &str, script: &str) -> Option<Value> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&path).any(|folder| folder.join("chromium").is_file()) {
        assert!(
            std::env::var_os("MERCER_NO_BROWSER").is_some(),
            "chromium is not on PATH, so no page can be opened: install it (see ./setup), or go without \
             with MERCER_NO_BROWSER=1"
        );
        eprintln!("skipped, as MERCER_NO_BROWSER asks: the page was not opened in a browser");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("index.html");
    let probe = format!(
        "<script>document.documentElement.dataset.probe=JSON.stringify((()=>{{{script}}})())</script></body>"
    );
    std::fs::write(&file, html.replace("</body>", &probe)).unwrap();
    let dom = chromium(folder.path(), &format!("file://{}#{fragment}", file.display()));
    let value =
        dom.split_once("data-probe=\"").expect("the script ran").1.split_once('"').unwrap().0;
    let value = value.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">");
    Some(serde_json::from_str(&value.replace("&amp;", "&")).unwrap())
}

fn chromium(folder: &Path, address: &str) -> String {
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--window-size=600,900", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(address)
        .output()
        .expect("chromium starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Walks over a page: sorts every table by every column and back, counts requests, looks for what a
/// key cannot reach, measures the contrast of every text in light and dark, and prints.
const AUDIT: &str = r#"
const all = (selector, root) => [...(root || document).querySelectorAll(selector)];
const found = { tables: 0, sorting: [], keys: [], faint: [], sideways: 0, folded: 0 };

for (const table of all("table")) {
  const heads = all(".heads th button", table);
  if (!heads.length) continue;
  found.tables += 1;
  const rows = () => all("tbody tr", table).map((row) => row.textContent).join("|");
  const before = rows();
  for (const head of heads) {
    const states = [];
    for (let i = 0; i < 3; i++) {
      head.click();
      states.push(head.closest("th").getAttribute("aria-sort"));
    }
    if (states.join() !== "ascending,descending,none" || rows() !== before) {
      found.sorting.push(table.closest("figure").id + " " + head.textContent + " " + states);
    }
  }
}

// Links, buttons, boxes and whatever scrolls can be reached with the tabulator.
for (const element of all("a[href], button, input, summary, .scroll")) {
  if (element.tabIndex < 0) found.keys.push(element.outerHTML.slice(0, 80));
}
// What was reached is seen.
found.ring = [...document.styleSheets].some((sheet) =>
  [...sheet.cssRules].some((rule) => (rule.selectorText || "").includes(":focus-visible")));

// Contrast as WCAG 2.1 defines it: 4.5, or 3 for large letters.
const parse = (color) => {
  const numbers = (color.match(/[\d.]+/g) || []).map(Number);
  return numbers.length < 3 ? null : { rgb: numbers.slice(0, 3), alpha: numbers[3] ?? 1 };
};
const over = (top, below) => top.rgb.map((c, i) => top.alpha * c + (1 - top.alpha) * below[i]);
const luminance = (rgb) => rgb
  .map((c) => c / 255)
  .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const ground = (element) => {
  const layers = [];
  for (let at = element; at; at = at.parentElement) {
    const color = parse(getComputedStyle(at).backgroundColor);
    if (color && color.alpha > 0) layers.push(color);
    if (color && color.alpha === 1) break;
  }
  return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
};
const details = all("details");
const folded = details.map((element) => element.open);
for (const element of details) element.open = true;
for (const theme of ["light", "dark"]) {
  document.documentElement.dataset.theme = theme;
  for (const element of all("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || ["SCRIPT", "STYLE"].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    const drawn = element.closest("svg");
    if (!drawn && (style.visibility === "hidden" || !element.getClientRects().length)) continue;
    const card = drawn && drawn.querySelector("rect");
    const back = card ? parse(getComputedStyle(card).fill).rgb : ground(element);
    const front = parse(drawn ? style.fill : style.color);
    if (!front) continue;
    const [a, b] = [luminance(over(front, back)), luminance(back)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) {
      found.faint.push(theme + " " + ratio.toFixed(2) + " " + element.textContent.trim().slice(0, 40));
    }
  }
}
details.forEach((element, i) => { element.open = folded[i]; });

dispatchEvent(new Event("beforeprint"));
found.folded = all("details.finding:not([open])").length;
dispatchEvent(new Event("afterprint"));

const root = document.documentElement;
found.sideways = root.scrollWidth - root.clientWidth;
found.requests = performance.getEntriesByType("resource")
  .map((entry) => entry.name).filter((name) => !name.startsWith("data:"));
found.unnamed = all("svg").filter((svg) => !svg.getAttribute("aria-label")).length;
return found;
"#;

/// Every page sorts, prints, asks nobody, is read by keys and by weak eyes, light and dark.
///
/// # Panics
/// Naming what the page does not keep.
pub fn hold_to_the_law(html: &str) {
    let Some(found) = browse(html, "", AUDIT) else { return };
    let sorts = html.contains("class=\"heads\"");
    assert_eq!(found["tables"].as_u64().unwrap() > 0, sorts, "no table could be sorted: {found}");
    for (law, name) in [
        ("a table sorts up, down and back", "sorting"),
        ("everything is reached by keys", "keys"),
        ("letters stand out from their ground", "faint"),
        ("nobody is asked for anything", "requests"),
    ] {
        assert_eq!(found[name], serde_json::json!([]), "{law}");
    }
    assert_eq!(found["ring"], true, "what has the focus is marked");
    assert_eq!(found["sideways"], 0, "a narrow page does not scroll sideways");
    assert_eq!(found["folded"], 0, "paper has nothing to unfold");
    assert_eq!(found["unnamed"], 0, "every drawing has a name");
}
