use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

/// A stream of random numbers: its place in it can be asked for and set.
///
/// ```
/// use mercer_learning::{Stream, Streams};
/// use rand::Rng;
/// let mut stream: Stream = Streams::root(1).rng("fit");
/// stream.r#gen::<u64>();
/// let place = stream.get_word_pos(); // what a checkpoint keeps
/// let next = stream.r#gen::<u64>();
/// stream.set_word_pos(place);
/// assert_eq!(stream.r#gen::<u64>(), next);
/// ```
pub type Stream = ChaCha8Rng;

/// The stream that draws the rows of the second stage. Its kernel comes from another stage: whoever draws as many rows
/// from the stream has the same ones.
pub const SECOND_STAGE: &str = "stage 2";

/// A named family of random streams. The same name gives the same numbers, on any machine.
///
/// A stream is `ChaCha8` seeded with the SHA-256 of the path of names that leads to it, each
/// preceded by its length. Streams of different names are independent for every practical purpose.
///
/// ```
/// use mercer_learning::Streams;
/// use rand::Rng;
/// let trial = Streams::root(1).child("segment").child("repeat 3");
/// assert_eq!(trial.rng("split").r#gen::<u64>(), trial.rng("split").r#gen::<u64>());
/// assert_ne!(trial.rng("split").r#gen::<u64>(), trial.rng("fit").r#gen::<u64>());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Streams([u8; 32]);

impl Streams {
    /// Returns the family of a root seed.
    pub fn root(seed: u64) -> Self {
        Self(Sha256::digest(seed.to_le_bytes()).into())
    }

    /// Returns the family below `name`.
    ///
    /// ```
    /// use mercer_learning::Streams;
    /// let root = Streams::root(1);
    /// assert_eq!(root.child("fit"), root.child("fit"));
    /// assert_ne!(root.child("ab").child("c"), root.child("a").child("bc")); // names are not run together
    /// ```
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
        Self(hash.finalize().into())
    }

    /// Returns the stream of one purpose.
    ///
    /// ```
    /// use mercer_learning::Streams;
    /// use rand::Rng;
    /// let streams = Streams::root(1);
    /// let draw = |purpose: &str| streams.rng(purpose).r#gen::<u64>();
    /// assert_eq!(draw("split"), draw("split")); // begins anew each time
    /// assert_ne!(draw("split"), draw("fit"));
    /// ```
    pub fn rng(&self, purpose: &str) -> Stream {
        Stream::from_seed(self.child(purpose).0)
    }
}
