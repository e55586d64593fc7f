//! Where a long fit stands, kept outside of it.

use crate::{LearningError, Numbers, Outline, State, Tensor};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Keeps where a long fit stands, so that an interrupted fit can go on. The fit goes on from there, to the same bits.
///
/// The kept state must determine all that follows, and must not depend on how long the fit is to be: then a longer fit
/// goes on from a shorter one, too.
///
/// ```
/// use mercer_learning::{Checkpoints, Fitting, State};
/// /// In memory; a program that may be killed writes [`State::pack`] to a file.
/// #[derive(Default)]
/// struct Kept(Option<State>);
/// impl Checkpoints for Kept {
///     fn last(&mut self) -> Option<State> { self.0.clone() }
///     fn due(&self, _ended: bool) -> bool { true }
///     fn keep(&mut self, state: State) { self.0 = Some(state); }
/// }
/// let mut kept = Kept::default();
/// let mut fitting = Fitting { checkpoints: Some(&mut kept), ..Fitting::seeded(1) };
/// fitting.between_steps(|| State::new().with("done", 3))?;
/// let state = fitting.kept().expect("it was due");
/// assert_eq!(State::unpack(&state.pack())?.value::<u64>("done")?, 3);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
pub trait Checkpoints {
    /// Returns the state that the same fit kept last, if any. It is asked for once, at the start.
    fn last(&mut self) -> Option<State>;

    /// Returns whether it is time to keep a state. It is asked between two steps or when the fit has `ended`: a matter
    /// of the clock, so that it must change no result.
    fn due(&self, ended: bool) -> bool;

    /// Keeps this in the place of what was kept before.
    fn keep(&mut self, state: State);
}

/// What stands before the numbers of a packed state.
#[derive(Serialize, Deserialize)]
struct Head {
    outline: Outline,
    /// Name, type and shape, in the order of the numbers.
    arrays: Vec<(String, String, Vec<usize>)>,
}

impl State {
    /// Returns its bytes, with a check sum.
    ///
    /// # Panics
    /// Never: names, shapes and values always print.
    pub fn pack(&self) -> Vec<u8> {
        let tensors = self.tensors();
        let kind = |tensor: &Tensor| match tensor.numbers {
            Numbers::F64(_) => "f64",
            Numbers::F32(_) => "f32",
            Numbers::U32(_) => "u32",
        };
        let arrays = tensors
            .iter()
            .map(|(name, tensor)| (name.clone(), kind(tensor).to_owned(), tensor.shape.clone()))
            .collect();
        let head = Head { outline: self.outline(), arrays };
        let mut body = serde_json::to_vec(&head).expect("names, shapes and values print");
        body.push(b'\n');
        for tensor in tensors.values() {
            match &tensor.numbers {
                Numbers::F64(all) => body.extend(all.iter().flat_map(|n| n.to_le_bytes())),
                Numbers::F32(all) => body.extend(all.iter().flat_map(|n| n.to_le_bytes())),
                Numbers::U32(all) => body.extend(all.iter().flat_map(|n| n.to_le_bytes())),
            }
        }
        let mut packed = sum_of(&body).into_bytes();
        packed.push(b'\n');
        packed.extend(body);
        packed
    }

    /// Restores the state that [`State::pack`] made these bytes of.
    ///
    /// ```
    /// use mercer_learning::State;
    /// let state = State::new().with("step", 7).with_array("x", &ndarray::array![1.5, -2.0]);
    /// let mut bytes = state.pack();
    /// assert_eq!(State::unpack(&bytes)?, state);
    /// *bytes.last_mut().unwrap() ^= 1;
    /// assert!(State::unpack(&bytes).is_err());
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    ///
    /// # Errors
    /// [`LearningError::State`] if the bytes were cut short or changed.
    pub fn unpack(bytes: &[u8]) -> Result<Self, LearningError> {
        let damaged = |problem: &str| LearningError::State {
            name: "packed state".to_owned(),
            problem: problem.to_owned(),
        };
        let line = |bytes: &[u8]| bytes.iter().position(|&byte| byte == b'\n');
        let end = line(bytes).ok_or_else(|| damaged("has no check sum"))?;
        let (sum, body) = (&bytes[..end], &bytes[end + 1..]);
        if sum != sum_of(body).as_bytes() {
            return Err(damaged("does not match its check sum"));
        }
        let end = line(body).ok_or_else(|| damaged("has no head"))?;
        let head: Head =
            serde_json::from_slice(&body[..end]).map_err(|error| damaged(&error.to_string()))?;
        let mut rest = &body[end + 1..];
        let mut tensors = BTreeMap::new();
        for (name, kind, shape) in head.arrays {
            let size = if kind == "f64" { 8 } else { 4 };
            let count = shape.iter().try_fold(size, |all: usize, &side| all.checked_mul(side));
            let count = count.filter(|&count| count <= rest.len());
            let (own, others) = rest.split_at(count.ok_or_else(|| damaged("ends early"))?);
            rest = others;
            let numbers = match kind.as_str() {
                "f64" => Numbers::F64(words(own, f64::from_le_bytes)),
                "f32" => Numbers::F32(words(own, f32::from_le_bytes)),
                "u32" => Numbers::U32(words(own, u32::from_le_bytes)),
                _ => return Err(damaged("holds numbers of an unknown type")),
            };
            tensors.insert(name, Tensor { shape, column_major: false, numbers });
        }
        Self::assemble(head.outline, tensors)
    }
}

fn words<const N: usize, T>(bytes: &[u8], read: fn([u8; N]) -> T) -> Vec<T> {
    let (words, _) = bytes.as_chunks::<N>();
    words.iter().map(|&word| read(word)).collect()
}

fn sum_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}"); // writing to a string cannot fail
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    #[test]
    fn a_packed_state_comes_back_whole_or_not_at_all() {
        let part = State::new().with_array("rows", &array![3u32, 1, 2]).with("name", "inner");
        let turned: Array2<f32> = array![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]].reversed_axes();
        let state = State::new()
            .with("step", 12)
            .with_array("f64", &array![[0.1, f64::MIN_POSITIVE], [-0.0, 1e300]])
            .with_array("turned", &turned)
            .with_array("empty", &Array2::<f64>::zeros((0, 3)))
            .with_part("part", part);
        let bytes = state.pack();
        assert_eq!(State::unpack(&bytes).unwrap(), state);
        for cut in 0..bytes.len() {
            assert!(State::unpack(&bytes[..cut]).is_err(), "cut at {cut}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 4;
            assert!(State::unpack(&changed).is_err(), "changed at {at}");
        }
    }
}
