//! A page in a Chromium that is spoken to over a pipe: real keys, the reader's colours, paper.

use crate::browser::browse;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// One page of a browser of its own. Messages are JSON that ends with a zero byte, on descriptors 3 and
/// 4 of the browser.
pub struct Page {
    browser: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
    asked: u64,
    session: Option<String>,
    complaints: Vec<String>,
    folder: TempDir,
}

impl Page {
    /// Opens a page and waits until it is there.
    pub fn open(html: &str) -> Self {
        let mut page = Self::start();
        let file = page.folder.path().join("index.html");
        std::fs::write(&file, html).unwrap();
        page.visit(&format!("file://{}", file.display()));
        page
    }

    /// A browser without a page.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut browser = Command::new("sh")
            .args(["-c", "exec chromium \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh"])
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"])
            .args(["--no-first-run", "--disable-background-networking", "--disable-sync"])
            .args(["--disable-component-update", "--window-size=900,900"])
            .args(["--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("chromium starts");
        let asks = browser.stdin.take().expect("it was piped");
        let answers = BufReader::new(browser.stdout.take().expect("it was piped"));
        let (session, complaints) = (None, Vec::new());
        Self { browser, asks, answers, asked: 0, session, complaints, folder }
    }

    /// Opens another page and waits until it is there.
    pub fn visit(&mut self, address: &str) {
        self.session = None;
        let target = self.ask("Target.createTarget", &json!({ "url": address }));
        let attached = json!({ "targetId": target["targetId"], "flatten": true });
        let session = self.ask("Target.attachToTarget", &attached);
        self.session = session["sessionId"].as_str().map(str::to_owned);
        // A page that never ends loading fails here, not at the limit of the whole run.
        let patience = Instant::now() + Duration::from_mins(1);
        while self.value("location.protocol + document.readyState") != "file:complete" {
            assert!(Instant::now() < patience, "{address} was not loaded within a minute");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// As wide and high as that.
    pub fn window(&mut self, width: u32, height: u32) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", &size);
    }

    /// What the page has written on its console, or the browser about it, so far.
    pub fn complaints(&mut self) -> Vec<String> {
        for domain in ["Log.enable", "Runtime.enable"] {
            self.ask(domain, &json!({}));
        }
        std::mem::take(&mut self.complaints)
    }

    /// The answer to a command of the protocol.
    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.asks.write_all(format!("{message}\0").as_bytes()).expect("the browser listens");
        loop {
            let mut bytes = Vec::new();
            self.answers.read_until(0, &mut bytes).expect("the browser answers");
            assert_eq!(bytes.pop(), Some(0), "the browser ended during {method}");
            let mut answer: Value = serde_json::from_slice(&bytes).unwrap();
            // All else are events.
            let told = ["Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"];
            if answer["method"].as_str().is_some_and(|event| told.contains(&event)) {
                self.complaints.push(answer["params"].to_string());
            }
            if answer["id"] == self.asked {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].take();
            }
        }
    }

    /// The value of an expression on the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "returnByValue": true });
        let mut found = self.ask("Runtime.evaluate", &asked);
        assert!(found["exceptionDetails"].is_null(), "{expression}: {found}");
        found["result"]["value"].take()
    }

    /// Presses a key and lets it go.
    pub fn press(&mut self, key: &str, code: u32, text: &str) {
        for kind in ["keyDown", "keyUp"] {
            let event = json!({
                "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code,
                "text": if kind == "keyDown" { text } else { "" },
            });
            self.ask("Input.dispatchKeyEvent", &event);
        }
    }

    /// As a reader's system asks for it: `screen` or `print`, `light` or `dark`.
    pub fn media(&mut self, media: &str, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.ask("Emulation.setEmulatedMedia", &json!({ "media": media, "features": features }));
    }

    /// What a printer would be sent: a PDF, and how many sheets it has.
    pub fn print(&mut self) -> (Vec<u8>, usize) {
        let printed = self.ask("Page.printToPDF", &json!({ "printBackground": true }));
        let pdf = from_base64(printed["data"].as_str().expect("data"));
        let kinds = pdf.windows(11).filter(|part| part.starts_with(b"/Type /Page"));
        let sheets = kinds.count() - pdf.windows(12).filter(|p| *p == b"/Type /Pages").count();
        (pdf, sheets)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.browser.kill();
        let _ = self.browser.wait();
    }
}

fn from_base64(text: &str) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let value = |letter: u8| LETTERS.iter().position(|&known| known == letter).unwrap_or(0) as u32;
    let letters = text.trim_end_matches('=').as_bytes();
    letters
        .chunks(4)
        .flat_map(|four| {
            let bits = (0..4).fold(0, |bits, at| bits << 6 | four.get(at).map_or(0, |&l| value(l)));
            bits.to_be_bytes()[1..four.len()].to_vec()
        })
        .collect()
}

/// A page obeys real keys, the reader's colours and a printer; not looked at without a Chromium.
///
/// # Panics
/// Naming what the page does not keep.
pub fn hold_to_the_reader(html: &str) {
    if browse(html, "", "return 1;").is_none() {
        return;
    }
    let mut page = Page::open(html);
    assert_eq!(page.complaints(), [""; 0], "nothing is wrong with the page");
    page.window(360, 900);
    let root = "document.documentElement";
    let over = page.value(&format!("{root}.scrollWidth - {root}.clientWidth"));
    assert_eq!(over, 0, "a phone does not scroll it sideways");
    page.window(900, 900);
    hold_to_keys(&mut page);
    hold_to_colours_and_paper(&mut page);
}

/// The tabulator goes from one thing to the next in the order of the page and marks each; Enter sorts.
fn hold_to_keys(page: &mut Page) {
    page.value(
        "reached = [...document.querySelectorAll('a[href], button, input, summary, .scroll')]\
         .filter((element) => element.checkVisibility()), reached.length",
    );
    let there = page.value("reached.length").as_u64().unwrap().min(60);
    let mut sorted = false;
    for at in 0..there {
        page.press("Tab", 9, "");
        let here = page.value("reached.indexOf(document.activeElement)");
        assert_eq!(
            here,
            at,
            "the tabulator leaves the order of the page: {}",
            page.value("document.activeElement.outerHTML.slice(0, 80)")
        );
        let outline = page.value("getComputedStyle(document.activeElement).outlineStyle");
        assert_eq!(outline, "solid", "what has the focus is marked");
        let sort = "document.activeElement.closest('th')?.getAttribute('aria-sort') ?? ''";
        if !sorted && page.value("!!document.activeElement.closest('.heads th')") == true {
            for state in ["ascending", "descending", "none"] {
                page.press("Enter", 13, "\r");
                assert_eq!(page.value(sort), state, "Enter sorts");
            }
            sorted = true;
        }
    }
    assert!(there > 0 && (sorted || there == 60), "no head of a table was reached");
}

/// A page that nobody switched follows the reader's system; paper is white, whatever the system says.
fn hold_to_colours_and_paper(page: &mut Page) {
    let light = "(() => { const c = getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number); \
                 return c[0] + c[1] + c[2] > 382; })()";
    for (media, scheme, is_light) in
        [("screen", "light", true), ("screen", "dark", false), ("print", "dark", true)]
    {
        page.media(media, scheme);
        assert_eq!(page.value(light), is_light, "{scheme} on {media}");
    }
    page.media("", "dark");
    let (pdf, sheets) = page.print();
    assert!(pdf.starts_with(b"%PDF-") && pdf.len() > 10_000, "{} bytes were printed", pdf.len());
    assert!(sheets >= 1, "a PDF without a page");
    let high = page.value("document.documentElement.scrollHeight").as_u64().unwrap();
    // A sheet of letter paper is 1056 pixels high.
    assert!(high < 2200 || sheets > 1, "{high} pixels on one sheet");
}
