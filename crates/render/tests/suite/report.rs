use crate::browser::{browse, hold_to_the_law};
use crate::protocol::hold_to_the_reader;
use crate::sample;
use mercer_render::{Block, Diagram, Finding, RenderError, Report, Section, Table};

#[test]
fn the_page_loads_nothing() {
    let html = sample::report().unwrap().to_html().unwrap();
    for loader in [" src=", "url(", "@import", "<iframe", "<object", "<embed", "fetch(", "XMLHttp"]
    {
        assert!(!html.contains(loader), "{loader}");
    }
    assert_eq!(html.matches("<link").count(), 1); // the empty icon, which saves a request
    assert!(html.contains("<link rel=\"icon\" href=\"data:,\">"));
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn everything_is_at_most_two_clicks_away() {
    let html = sample::report().unwrap().to_html().unwrap();
    let nav = html.split_once("<nav").unwrap().1.split_once("</nav>").unwrap().0;
    for id in ["summary", "demo-table2", "demo-curves", "demo-network", "demo-ranks", "finding-f1"]
    {
        assert!(nav.contains(&format!("href=\"#{id}\"")), "{id}");
        assert_eq!(html.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
    }
}

#[test]
fn two_parts_with_one_address_are_refused() {
    let section = |id: &str| Section::new(id, "T").block(Block::Table(Table::new("a/b", "T")));
    let error = Report::new("R").section(section("a-b")).to_html().unwrap_err();
    assert!(matches!(&error, RenderError::DuplicateId(id) if id == "a/b"), "{error}");
    let diagram = Block::Diagram(Diagram::new("main", "D", (10.0, 10.0)));
    assert!(Report::new("R").section(Section::new("s", "S").block(diagram)).to_html().is_err());
}

#[test]
fn no_text_of_a_report_becomes_markup() {
    let evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>";
    let finding = Finding {
        id: "f".into(),
        title: evil.into(),
        body: evil.into(),
        affects: vec![evil.into()],
        ..Finding::default()
    };
    let section = Section::new("s", evil)
        .intro(evil)
        .block(Block::Text(format!(
            "# {evil}\n- {evil}\n\n`{evil}`\n\n| {evil} |\n|---|\n| {evil} |\n\n[{evil}]({evil})"
        )))
        .block(Block::Findings(vec![finding]));
    let report = Report::new(evil).subtitle(evil).provenance(evil, evil).section(section);
    let html = report.to_html().unwrap();
    assert!(!html.contains("<img") && !html.contains("<script>alert"));
    assert_eq!(html.matches("<script").count(), 1);
}

/// First cells of the rows of the accuracy table that are shown.
const ROWS: &str =
    "const rows = () => [...document.querySelectorAll('#demo-table2 tbody tr:not(.section)')]
    .filter((row) => !row.hidden).map((row) => row.cells[0].textContent);";

#[test]
fn in_a_browser_the_page_keeps_the_laws_of_every_page() {
    let html = sample::report().unwrap().to_html().unwrap();
    hold_to_the_law(&html);
    hold_to_the_reader(&html);
}

#[test]
fn in_a_browser_tables_sort_by_click_up_down_and_back() {
    let html = sample::report().unwrap().to_html().unwrap();
    let script = format!(
        "{ROWS} const head = document.querySelectorAll('#demo-table2 .heads th')[1];
         const states = [[head.getAttribute('aria-sort'), rows()]];
         for (let i = 0; i < 3; i++) {{
             head.querySelector('button').click();
             states.push([head.getAttribute('aria-sort'), rows()]);
         }}
         return states;"
    );
    let Some(states) = browse(&html, "", &script) else { return };
    // Sections stay in place; rows are sorted within them.
    let up = ["segment", "satimage", "usps", "pendigits", "letter", "mnist", "sensorless"];
    let down = ["usps", "satimage", "segment", "sensorless", "mnist", "letter", "pendigits"];
    let expected =
        serde_json::json!([["none", up], ["ascending", up], ["descending", down], ["none", up]]);
    assert_eq!(states, expected);
}

#[test]
fn in_a_browser_an_address_sorts_filters_and_darkens_and_missing_cells_come_last() {
    let html = sample::report().unwrap().to_html().unwrap();
    let script = format!(
        "{ROWS} return {{
            rows: rows(),
            theme: document.documentElement.dataset.theme,
            ground: getComputedStyle(document.body).backgroundColor,
            count: document.getElementById('count').textContent,
            plots: getComputedStyle(document.querySelector('#demo-curves svg rect')).fill,
        }};"
    );
    let fragment = "sort=demo-table2:3:descending&filter=large&theme=dark";
    let Some(seen) = browse(&html, fragment, &script) else { return };
    assert_eq!(seen["rows"].as_array().unwrap().last().unwrap(), "sensorless");
    assert_eq!(seen["rows"].as_array().unwrap().len(), 4);
    assert_eq!(seen["theme"], "dark");
    assert_eq!(seen["ground"], "rgb(13, 17, 23)");
    assert_eq!(seen["plots"], "rgb(20, 26, 34)");
    assert_eq!(seen["count"], "4 of 10 rows");
}

#[test]
fn in_a_browser_a_narrow_page_does_not_scroll_sideways_and_requests_nothing() {
    let html = sample::report().unwrap().to_html().unwrap();
    let script = "const root = document.documentElement;
        document.getElementById('theme').click();
        return {
            over: root.scrollWidth - root.clientWidth,
            boxes: [...document.querySelectorAll('.scroll')].every((box) => box.tabIndex === 0),
            requests: performance.getEntriesByType('resource').map((entry) => entry.name),
            theme: document.getElementById('theme').textContent,
            open: document.getElementById('finding-f1').open,
        };";
    let Some(seen) = browse(&html, "finding-f1", script) else { return };
    assert_eq!(seen["over"], 0);
    assert_eq!(seen["boxes"], true);
    assert_eq!(
        seen["requests"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|name| !name.as_str().unwrap().starts_with("data:"))
            .count(),
        0,
        "{seen}"
    );
    assert_eq!(seen["theme"], "Theme: light");
    assert_eq!(seen["open"], true);
}
