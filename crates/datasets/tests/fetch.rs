//! Fetching from a server on this machine that behaves, and from one that does not.

use mercer_datasets::{Catalogue, DataError, Downloader, Entry, Library, Store};
use ndarray::array;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How the server answers one request.
#[derive(Clone, Copy, PartialEq)]
enum Answer {
    /// As asked, ranges included.
    Well,
    /// The whole file, whatever range was asked for.
    Whole,
    /// The head of the whole file, then only so many bytes of it, then the connection closes.
    CutAfter(usize),
    /// So many bytes of it, then silence.
    StallAfter(usize),
    /// Other bytes of the same length.
    WrongBytes,
    /// A status without a file.
    Status(u16),
    /// A range that was not asked for.
    WrongRange,
}

/// A server that gives its scripted answers in turn, the last one again and again.
struct Server {
    address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(file: &[u8], tag: &'static str, answers: &[Answer]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (log, file, answers) = (Arc::clone(&requests), file.to_vec(), answers.to_vec());
        std::thread::spawn(move || {
            for (at, stream) in listener.incoming().enumerate() {
                let answer = answers[at.min(answers.len() - 1)];
                let (log, file) = (Arc::clone(&log), file.clone());
                // A client that hangs up early is part of the tests.
                std::thread::spawn(move || {
                    let _ = serve(&mut stream.unwrap(), answer, &file, tag, &log);
                });
            }
        });
        Self { address, requests }
    }

    fn url(&self, name: &str) -> String {
        format!("{}/{name}", self.address)
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(
    stream: &mut TcpStream,
    answer: Answer,
    file: &[u8],
    tag: &str,
    log: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut head = String::new();
    let mut reader = BufReader::new(stream.try_clone()?);
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head)? > 0 {}
    let head = head.to_lowercase();
    let header = |name: &str| {
        head.lines().find_map(|line| line.strip_prefix(&format!("{name}: "))).map(str::to_owned)
    };
    let range = header("range").filter(|_| header("if-range").is_none_or(|t| t == tag));
    log.lock().unwrap().push(header("range").unwrap_or_default());
    let from = range
        .and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
    let tag = if tag.is_empty() { String::new() } else { format!("ETag: {tag}\r\n") };
    let whole = format!("HTTP/1.1 200 OK\r\n{tag}Content-Length: {}\r\n\r\n", file.len());
    let partial = |from: usize, claimed: usize| {
        let (length, last) = (file.len() - from, file.len() - 1);
        format!(
            "HTTP/1.1 206 Partial Content\r\n{tag}Content-Length: {length}\r\n\
             Content-Range: bytes {claimed}-{last}/{}\r\n\r\n",
            file.len()
        )
    };
    let (head, body): (String, &[u8]) = match (answer, from) {
        (Answer::Well, Some(from)) if from >= file.len() => {
            ("HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\n\r\n".to_owned(), &[])
        }
        (Answer::Well, Some(from)) => (partial(from, from), &file[from..]),
        (Answer::WrongRange, Some(from)) => (partial(from, from + 1), &file[from..]),
        (Answer::CutAfter(count) | Answer::StallAfter(count), Some(from)) => {
            (partial(from, from), &file[from..(from + count).min(file.len())])
        }
        (Answer::Well | Answer::Whole | Answer::WrongRange, _) => (whole, file),
        (Answer::CutAfter(count) | Answer::StallAfter(count), None) => (whole, &file[..count]),
        (Answer::WrongBytes, _) => {
            stream.write_all(whole.as_bytes())?;
            return stream.write_all(&vec![b'?'; file.len()]);
        }
        (Answer::Status(status), _) => {
            (format!("HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n"), &[])
        }
    };
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    stream.flush()?;
    if matches!(answer, Answer::StallAfter(_)) {
        std::thread::sleep(Duration::from_secs(5));
    }
    Ok(())
}

const FILE: &[u8] = b"0.5,1,no\n2,3,yes\n4,5e-1,no\n";

/// A dataset of three rows, at these addresses.
fn tiny(urls: &[String]) -> Entry {
    let text = format!(
        "schema = 1\n[[dataset]]\nname = \"tiny\"\ntitle = \"Tiny\"\ntask = \"classification\"\n\
         features = 2\nparts = {{ train = 3 }}\nclass_counts = {{ 0 = 2, 1 = 1 }}\n\
         urls = [\"http://127.0.0.1\"]\ncitation = \"\"\nlicence = \"\"\nencoding = \"\"\n\
         papers = []\n[dataset.source]\nformat = \"commas\"\nlabels = {{ no = \"0\", yes = \"1\" }}\n\
         files = [{{ name = \"tiny.csv\", role = \"all\", urls = {urls:?} }}]\n"
    );
    Catalogue::parse(&text).unwrap().find("tiny").unwrap().clone()
}

const IMPATIENT: Downloader = Downloader { patience: Duration::from_secs(1), bar: false };

fn fetch(urls: &[String], folder: &Path) -> Result<mercer_datasets::Dataset, DataError> {
    Store::new(folder).fetch(&tiny(urls), &IMPATIENT)
}

/// Fetches from a server with these answers and returns the ranges asked for.
fn fetched(tag: &'static str, answers: &[Answer]) -> Vec<String> {
    let server = Server::start(FILE, tag, answers);
    let folder = tempfile::tempdir().unwrap();
    let dataset = fetch(&[server.url("tiny.csv")], folder.path()).unwrap();
    assert_eq!(dataset.sample.rows(), 3);
    assert_eq!(dataset.sample.labels().unwrap(), [0, 1, 0]);
    assert_eq!(dataset.sample.inputs(), array![[0.5, 1.0], [2.0, 3.0], [4.0, 0.5]]);
    assert!(!folder.path().join("downloads/tiny").exists(), "official files are removed");
    let manifest = mercer_datasets::Manifest::read(folder.path()).unwrap();
    assert_eq!(manifest.find("tiny").unwrap().files[0].rows, 3);
    server.requests()
}

#[test]
fn a_good_server_is_asked_once() {
    assert_eq!(fetched("\"v1\"", &[Answer::Well]), [""]);
}

#[test]
fn a_truncated_download_is_resumed_where_it_stopped() {
    let answers = [Answer::CutAfter(10), Answer::CutAfter(5), Answer::Well];
    assert_eq!(fetched("\"v1\"", &answers), ["", "bytes=10-", "bytes=15-"]);
}

#[test]
fn a_stalled_download_is_given_up_and_resumed() {
    let start = Instant::now();
    let ranges = fetched("\"v1\"", &[Answer::StallAfter(7), Answer::Well]);
    assert_eq!(ranges, ["", "bytes=7-"]);
    assert!(start.elapsed() < Duration::from_secs(4), "it must not wait for the server");
}

#[test]
fn a_server_that_ignores_ranges_is_understood() {
    assert_eq!(fetched("\"v1\"", &[Answer::CutAfter(10), Answer::Whole]), ["", "bytes=10-", ""]);
}

#[test]
fn a_wrong_range_is_thrown_away() {
    let answers = [Answer::CutAfter(10), Answer::WrongRange, Answer::Well];
    assert_eq!(fetched("\"v1\"", &answers), ["", "bytes=10-", ""]);
}

#[test]
fn a_passing_server_error_is_tried_again() {
    assert_eq!(fetched("\"v1\"", &[Answer::Status(503), Answer::Well]), ["", ""]);
}

#[test]
fn a_download_goes_on_in_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(
        FILE,
        "\"v1\"",
        &[Answer::CutAfter(4), Answer::CutAfter(4), Answer::CutAfter(4), Answer::Well],
    );
    let url = server.url("tiny.csv");
    let error = fetch(std::slice::from_ref(&url), folder.path()).unwrap_err();
    assert!(matches!(&error, DataError::Download { .. }), "{error}");
    assert!(error.to_string().contains("(18)"), "{error}");
    assert!(!folder.path().join("MANIFEST.toml").exists());
    fetch(&[url], folder.path()).unwrap();
    assert_eq!(server.requests(), ["", "bytes=4-", "bytes=8-", "bytes=12-"]);
}

#[test]
fn a_file_that_changed_meanwhile_is_not_mixed() {
    let folder = tempfile::tempdir().unwrap();
    let new = Server::start(FILE, "\"v2\"", &[Answer::Well]);
    let part = folder.path().join("downloads/tiny/tiny.csv.part");
    std::fs::create_dir_all(part.parent().unwrap()).unwrap();
    std::fs::write(&part, "9,9,").unwrap();
    let dataset = fetch(&[new.url("tiny.csv")], folder.path()).unwrap();
    assert_eq!(dataset.sample.inputs().row(0), array![0.5, 1.0]);
    assert_eq!(new.requests(), ["bytes=4-", ""]);
}

#[test]
fn wrong_bytes_and_missing_files_lead_to_the_next_address() {
    let bad = Server::start(FILE, "\"v1\"", &[Answer::WrongBytes]);
    let gone = Server::start(FILE, "\"v1\"", &[Answer::Status(404)]);
    let good = Server::start(FILE, "\"v1\"", &[Answer::Well]);
    let folder = tempfile::tempdir().unwrap();
    let urls = [bad.url("tiny.csv"), gone.url("tiny.csv"), good.url("tiny.csv")];
    fetch(&urls, folder.path()).unwrap();
    assert_eq!((bad.requests().len(), gone.requests().len(), good.requests().len()), (1, 1, 1));

    let folder = tempfile::tempdir().unwrap();
    let error = fetch(&urls[..2], folder.path()).unwrap_err().to_string();
    assert!(error.contains("not the file wanted") && error.contains("error: 404"), "{error}");
    assert!(!folder.path().join("MANIFEST.toml").exists());
}

#[test]
fn nobody_listening_is_an_error_that_names_the_address() {
    let url = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/tiny.csv", listener.local_addr().unwrap())
    };
    let folder = tempfile::tempdir().unwrap();
    let error = fetch(std::slice::from_ref(&url), folder.path()).unwrap_err().to_string();
    assert!(error.contains(&url), "{error}");
}

#[test]
fn a_file_beyond_the_limit_is_not_downloaded() {
    let server = Server::start(FILE, "\"v1\"", &[Answer::Well]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let error = IMPATIENT.get(&[server.url("f")], &path, 10, &|_| Ok(())).unwrap_err().to_string();
    assert!(error.contains("larger than the limit of 10 bytes"), "{error}");
    assert!(!path.exists());
}

#[test]
fn what_a_person_must_get_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let shuttle = Catalogue::builtin().find("shuttle").unwrap();
    let error = Store::new(folder.path()).fetch(shuttle, &IMPATIENT).unwrap_err();
    assert!(matches!(&error, DataError::ByHand { .. }), "{error}");
    assert!(error.to_string().contains("mercer data import DIR"), "{error}");
    assert!(Library::of_folders([folder.path().to_owned()]).is_err());
}
