use crate::DataError;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Attempts at each address.
const ATTEMPTS: usize = 3;
/// Between two of them.
const PAUSE: Duration = Duration::from_millis(500);

/// Gets files by the program `curl`, resuming what was cut short. It follows the proxy of the environment.
///
/// ```
/// use mercer_datasets::{DataError, Downloader};
/// let server = std::net::TcpListener::bind("127.0.0.1:0")?;
/// let url = format!("http://{}/toys.csv", server.local_addr()?);
/// drop(server); // nobody listens there now
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("toys.csv");
/// let refused = Downloader::default().get(&[url.clone()], &path, 1_000, &|_| Ok(())).unwrap_err();
/// assert!(matches!(refused, DataError::Download { .. }));
/// assert!(refused.to_string().contains(&url) && !path.exists());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Downloader {
    /// Seconds without a byte after which an attempt is given up. Default 30.
    pub patience: Duration,
    /// Whether curl draws its progress bar on standard error. Off by default.
    pub bar: bool,
}

impl Default for Downloader {
    fn default() -> Self {
        Self { patience: Duration::from_secs(30), bar: false }
    }
}

impl Downloader {
    /// Downloads a file from the first of `urls` whose content `check` accepts. The file has at most `limit` bytes. It
    /// is moved to `path` when it is complete.
    ///
    /// What an attempt leaves is kept beside `path` and continued. A continued file that `check` refuses
    /// may be a mixture of two versions: it is fetched once more from its beginning.
    ///
    /// # Errors
    /// [`DataError::Download`] with every attempt; [`DataError::Io`] if the disk refuses.
    pub fn get(
        &self,
        urls: &[String],
        path: &Path,
        limit: u64,
        check: &dyn Fn(&Path) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut name = path.as_os_str().to_owned();
        name.push(".part");
        let (part, mut attempts) = (PathBuf::from(name), String::new());
        for url in urls {
            for _ in 0..ATTEMPTS {
                let resumed = part.exists();
                let problem = match self.attempt(url, &part, limit) {
                    Ok(()) => match check(&part) {
                        Ok(()) => return fs::rename(&part, path).map_err(DataError::io(path)),
                        Err(error) => format!("not the file wanted: {error}"),
                    },
                    Err(problem) => problem,
                };
                tracing::debug!(url, problem, "download");
                // Writing to a string cannot fail.
                let _ = write!(attempts, "\n  {url}: {problem}");
                // Cut short, silent for too long, or a server in trouble: the next attempt goes on from there.
                if ["(18)", "(28)", "(56)", "error: 5"].iter().any(|code| problem.contains(code)) {
                    std::thread::sleep(PAUSE);
                    continue;
                }
                // It may not be there.
                let _ = fs::remove_file(&part);
                // The same wrong bytes, or none, would come again.
                if !resumed {
                    break;
                }
            }
        }
        if urls.is_empty() {
            attempts.push_str(" no address is known");
        }
        Err(DataError::Download { file, attempts })
    }

    fn attempt(&self, url: &str, part: &Path, limit: u64) -> Result<(), String> {
        let mut curl = Command::new("curl");
        curl.args(["--location", "--fail", "--connect-timeout", "15", "--speed-limit", "100"])
            .args(["--speed-time", &self.patience.as_secs().max(1).to_string()])
            .args(["--max-filesize", &limit.to_string(), "--continue-at", "-"])
            .args(if self.bar {
                ["--progress-bar", "--show-error"]
            } else {
                ["--silent", "--show-error"]
            })
            .arg("--output")
            .arg(part)
            .args(["--", url])
            .stdin(Stdio::null())
            .stderr(if self.bar { Stdio::inherit() } else { Stdio::piped() });
        let output = curl.output().map_err(|error| {
            format!("curl cannot be run ({error}): install it, or get the file and `mercer data import DIR`")
        })?;
        // Without a length from the server, curl cannot refuse beforehand.
        if fs::metadata(part).is_ok_and(|found| found.len() > limit) {
            return Err(format!("is larger than the limit of {limit} bytes"));
        }
        match output.status.code() {
            Some(0) => Ok(()),
            Some(63) => Err(format!("is larger than the limit of {limit} bytes")),
            code => {
                let said = String::from_utf8_lossy(&output.stderr);
                let said = said.lines().last().unwrap_or_default().trim();
                Err(if said.is_empty() {
                    format!("curl: ({})", code.unwrap_or(-1))
                } else {
                    said.to_owned()
                })
            }
        }
    }
}
