use crate::DataError;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use ureq::Agent;

/// How long to wait for a server, and how often to try.
///
/// ```
/// use mercer_datasets::Patience;
/// use std::time::Duration;
/// let patience = Patience::default();
/// assert_eq!((patience.attempts, patience.connect), (3, Duration::from_secs(15)));
/// // The longest that it can wait for a server that accepts nothing.
/// let attempts = u32::try_from(patience.attempts)?;
/// let longest = patience.connect * attempts + patience.pause * (attempts - 1);
/// assert_eq!(longest, Duration::from_secs(49));
/// # Ok::<(), std::num::TryFromIntError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For a connection. Default 15 s.
    pub connect: Duration,
    /// For the head of the answer. Default 30 s.
    pub response: Duration,
    /// For each next piece of the file. Default 30 s.
    pub piece: Duration,
    /// Attempts at each address. Default 3.
    pub attempts: usize,
    /// Between two attempts at the same address. Default 2 s.
    pub pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(15),
            response: Duration::from_secs(30),
            piece: Duration::from_secs(30),
            attempts: 3,
            pause: Duration::from_secs(2),
        }
    }
}

/// How far a download is.
///
/// ```
/// use mercer_datasets::{Downloader, Patience};
/// # let server = std::net::TcpListener::bind("127.0.0.1:0")?;
/// # let url = format!("http://{}/toys.csv", server.local_addr()?);
/// # std::thread::spawn(move || {
/// #     use std::io::{Read, Write};
/// #     let (mut stream, _) = server.accept().unwrap();
/// #     stream.read(&mut [0; 4096]).unwrap();
/// #     let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n";
/// #     stream.write_all(format!("{head}a,b\n1").as_bytes()).unwrap();
/// # });
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("toys.csv");
/// let mut seen = Vec::new();
/// // From a server that has these five bytes: "a,b\n1".
/// Downloader::direct(Patience::default()).get(&[url], &path, 1_000, &|_| Ok(()), &mut |progress| {
///     seen.push((progress.done, progress.total));
/// })?;
/// assert_eq!(seen.last(), Some(&(5, Some(5))));
/// assert_eq!(std::fs::read(path)?, b"a,b\n1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// Name of the file.
    pub file: &'a str,
    /// Bytes here.
    pub done: u64,
    /// Bytes in all, if the server says.
    pub total: Option<u64>,
}

/// Gets files over HTTP, resuming what was cut short.
///
/// ```
/// use mercer_datasets::{DataError, Downloader, Patience};
/// let server = std::net::TcpListener::bind("127.0.0.1:0")?;
/// let url = format!("http://{}/toys.csv", server.local_addr()?);
/// drop(server); // nobody listens there now
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("toys.csv");
/// let patience = Patience { attempts: 1, ..Patience::default() };
/// let refused = Downloader::direct(patience)
///     .get(&[url.clone()], &path, 1_000, &|_| Ok(()), &mut |_| ())
///     .unwrap_err();
/// assert!(matches!(refused, DataError::Download { .. }));
/// assert!(refused.to_string().contains(&url) && !path.exists());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Downloader {
    agent: Agent,
    patience: Patience,
}

/// Why one attempt failed, and whether another at the same address may help.
struct Failure {
    problem: String,
    again: bool,
}

impl Failure {
    fn passing(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), again: true }
    }

    fn lasting(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), again: false }
    }
}

/// A file that is not complete yet, with what identifies the version that it is a part of.
struct Part {
    data: PathBuf,
    tag: PathBuf,
}

impl Part {
    fn of(path: &Path) -> Self {
        let beside = |suffix: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        Self { data: beside(".part"), tag: beside(".part-tag") }
    }

    /// Bytes here and the tag to ask with, if it can be resumed from this address.
    fn resumable(&self, url: &str) -> Option<(u64, String)> {
        let length = fs::metadata(&self.data).ok()?.len();
        let text = fs::read_to_string(&self.tag).ok()?;
        let (address, tag) = text.split_once('\n')?;
        (address == url && length > 0).then(|| (length, tag.to_owned()))
    }

    fn remove(&self) {
        for path in [&self.data, &self.tag] {
            // It may not be there, and what is left is overwritten by the next attempt anyway.
            let _ = fs::remove_file(path);
        }
    }
}

impl Downloader {
    /// Through the proxy of the environment, if there is one.
    pub fn new(patience: Patience) -> Self {
        Self::with(patience, ureq::Proxy::try_from_env())
    }

    /// Without a proxy.
    pub fn direct(patience: Patience) -> Self {
        Self::with(patience, None)
    }

    fn with(patience: Patience, proxy: Option<ureq::Proxy>) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(proxy)
            .timeout_connect(Some(patience.connect))
            .timeout_recv_response(Some(patience.response))
            .timeout_per_read(Some(patience.piece))
            // What is asked for is the file as it lies there: byte ranges count its bytes.
            .accept_encoding("identity")
            .user_agent(concat!("mercer-datasets/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.into(), patience }
    }

    /// Gets a file of at most `limit` bytes from the first of `urls` that gives one which `check`
    /// accepts, and moves it to `path` when it is complete.
    ///
    /// What an attempt leaves is kept beside `path` and continued if the server vouches, by
    /// `ETag` or `Last-Modified`, that its file is still the same.
    ///
    /// # Errors
    /// [`DataError::Download`] with every attempt; [`DataError::Io`] if the disk refuses.
    pub fn get(
        &self,
        urls: &[String],
        path: &Path,
        limit: u64,
        check: &dyn Fn(&Path) -> Result<(), DataError>,
        progress: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<(), DataError> {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (part, mut attempts) = (Part::of(path), String::new());
        for url in urls {
            for attempt in 1..=self.patience.attempts.max(1) {
                let outcome = self.attempt(url, &file, &part, limit, progress)?.and_then(|()| {
                    check(&part.data).map_err(|error| {
                        part.remove();
                        // The same wrong bytes would come again.
                        Failure::lasting(format!("not the file wanted: {error}"))
                    })
                });
                match outcome {
                    Ok(()) => {
                        fs::rename(&part.data, path).map_err(DataError::io(path))?;
                        part.remove();
                        return Ok(());
                    }
                    Err(failure) => {
                        // Writing to a string cannot fail.
                        let _ = write!(attempts, "\n  {url}: {}", failure.problem);
                        tracing::debug!(url, attempt, problem = failure.problem, "download");
                        if !failure.again {
                            break;
                        }
                    }
                }
                if attempt < self.patience.attempts {
                    std::thread::sleep(self.patience.pause);
                }
            }
        }
        if urls.is_empty() {
            attempts.push_str(" no address is known");
        }
        Err(DataError::Download { file, attempts })
    }

    /// One request; the outer error is the disk's, the inner one the network's.
    fn attempt(
        &self,
        url: &str,
        file: &str,
        part: &Part,
        limit: u64,
        progress: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<Result<(), Failure>, DataError> {
        let resume = part.resumable(url);
        let mut request = self.agent.get(url);
        if let Some((length, tag)) = &resume {
            request = request.header("Range", format!("bytes={length}-")).header("If-Range", tag);
        }
        let response = match request.call() {
            Ok(response) => response,
            Err(error) => return Ok(Err(Failure::passing(error.to_string()))),
        };
        let header = |name: &str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let status = response.status().as_u16();
        let start = match (status, &resume) {
            (200, _) => 0, // the whole file: it changed, or the server does not do ranges
            (206, Some((length, _))) => {
                let range = header("content-range").unwrap_or_default();
                if !range.starts_with(&format!("bytes {length}-")) {
                    part.remove();
                    let problem = format!("answered with range `{range}`, not from byte {length}");
                    return Ok(Err(Failure::passing(problem)));
                }
                *length
            }
            (416, Some(_)) => {
                part.remove();
                return Ok(Err(Failure::passing("has no bytes beyond those already here")));
            }
            (500.. | 408 | 429, _) => {
                return Ok(Err(Failure::passing(format!("answered with status {status}"))));
            }
            _ => return Ok(Err(Failure::lasting(format!("answered with status {status}")))),
        };
        // A weak tag vouches for the meaning, not for the bytes.
        let tag =
            header("etag").filter(|tag| !tag.starts_with("W/")).or_else(|| header("last-modified"));
        let encoded = header("content-encoding").is_some_and(|coding| coding != "identity");
        let length = response.body().content_length().filter(|_| !encoded);
        let total = length.map(|length| start.saturating_add(length));
        if total.is_some_and(|total| total > limit) {
            let problem = format!("is larger than the limit of {limit} bytes");
            return Ok(Err(Failure::lasting(problem)));
        }
        let mut out = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(start == 0)
            .append(start > 0)
            .open(&part.data)
            .map_err(DataError::io(&part.data))?;
        match tag.filter(|_| !encoded) {
            Some(tag) => {
                fs::write(&part.tag, format!("{url}\n{tag}")).map_err(DataError::io(&part.tag))?;
            }
            None => drop(fs::remove_file(&part.tag)), // not there, as a rule
        }
        let mut body = response.into_body().into_reader();
        let (mut done, mut buffer) = (start, vec![0; 1 << 16]);
        progress(&Progress { file, done, total });
        loop {
            let count = match body.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) => {
                    return Ok(Err(Failure::passing(format!("broke off at byte {done}: {error}"))));
                }
            };
            done += count as u64;
            if done > limit {
                part.remove();
                let problem = format!("is larger than the limit of {limit} bytes");
                return Ok(Err(Failure::lasting(problem)));
            }
            out.write_all(&buffer[..count]).map_err(DataError::io(&part.data))?;
            progress(&Progress { file, done, total });
        }
        if let Some(total) = total.filter(|&total| done < total) {
            let problem = format!("broke off at byte {done} of {total}");
            return Ok(Err(Failure::passing(problem)));
        }
        out.sync_all().map_err(DataError::io(&part.data))?;
        Ok(Ok(()))
    }
}

impl Default for Downloader {
    fn default() -> Self {
        Self::new(Patience::default())
    }
}
