//! Where the training of a network with a softmax layer stands.

use super::Head;
use mercer_learning::{LearningError, State, Stream};
use mercer_networks::Network;
use mercer_solvers::{Memory, Optimiser};
use ndarray::{ArrayView1, Ix1};
use rand::seq::SliceRandom;

/// All that changes from step to step.
pub(super) struct Training {
    pub net: Box<dyn Network<f32>>,
    pub head: Head,
    pub below: Memory<f32>,
    pub above: Memory<f32>,
    pub masks: Stream,
    pub order: Stream,
    pub rows: Vec<usize>,
    pub next: usize,
}

impl Training {
    /// The rows of the next step: all, or as many of a permutation, which is drawn anew when fewer are left.
    pub fn batch(&mut self, size: usize) -> &[usize] {
        let n = self.rows.len();
        if size == n {
            return &self.rows;
        }
        if self.next + size > n {
            self.rows.shuffle(&mut self.order);
            self.next = 0;
        }
        self.next += size;
        &self.rows[self.next - size..self.next]
    }

    /// What determines all steps after `done` of them.
    pub fn standing(&self, done: usize) -> State {
        let rows: Vec<u32> = self.rows.iter().map(|&row| row as u32).collect();
        let state = State::new()
            .with("done", done)
            .with("next", self.next)
            // 128 bits: as text.
            .with("order", self.order.get_word_pos().to_string())
            .with("masks", self.masks.get_word_pos().to_string())
            .with_array("rows", &ArrayView1::from(&rows));
        let part = |parameters: &[f32], memory: &Memory<f32>| {
            let (first, second) = memory.moments();
            State::new()
                .with_array("parameters", &ArrayView1::from(parameters))
                .with_array("first", &ArrayView1::from(first))
                .with_array("second", &ArrayView1::from(second))
        };
        state
            .with_part("below", part(self.net.parameters(), &self.below))
            .with_part("above", part(&self.head.parameters, &self.above))
    }

    /// Goes on from where an earlier run was kept, and returns the steps done. The run must have been kept before the
    /// last of `steps`.
    pub fn go_on(&mut self, kept: Option<&State>, steps: usize, optimiser: Optimiser) -> usize {
        let sooner = |state: &&State| state.value("done").is_ok_and(|done: usize| done < steps);
        let resumed = kept.filter(sooner).map(|state| self.resumed(state, optimiser));
        // A state of another network or other rows is not this fit's: it begins anew.
        resumed.and_then(Result::ok).unwrap_or(0)
    }

    /// Puts it where a state says, and returns the steps done; a state of another network or of
    /// other rows changes nothing.
    fn resumed(&mut self, state: &State, optimiser: Optimiser) -> Result<usize, LearningError> {
        let wrong = |name: &str| LearningError::State {
            name: name.to_owned(),
            problem: "is not of this fit".to_owned(),
        };
        let place = |name: &str| -> Result<u128, LearningError> {
            state.value::<String>(name)?.parse().map_err(|_| wrong(name))
        };
        let n = self.rows.len();
        let rows = state.array_of::<u32, Ix1>("rows", n)?;
        let mut sorted = rows.to_vec();
        sorted.sort_unstable();
        if sorted.iter().enumerate().any(|(at, &row)| at != row as usize) {
            return Err(wrong("rows"));
        }
        let (done, next): (usize, usize) = (state.value("done")?, state.value("next")?);
        if next > n {
            return Err(wrong("next"));
        }
        let part = |name: &str, memory: &Memory<f32>, count: usize| {
            let (part, (first, second)) = (state.part(name)?, memory.moments());
            let array = |name: &str, length: usize| {
                Ok::<_, LearningError>(part.array_of::<f32, Ix1>(name, length)?.to_vec())
            };
            let parameters = array("parameters", count)?;
            let (first, second) = (array("first", first.len())?, array("second", second.len())?);
            Ok::<_, LearningError>((parameters, Memory::of(optimiser, count, first, second)))
        };
        let (order, masks) = (place("order")?, place("masks")?);
        let below = part("below", &self.below, self.net.parameters().len())?;
        let above = part("above", &self.above, self.head.parameters.len())?;
        self.net.update().0.copy_from_slice(&below.0);
        (self.head.parameters, self.below, self.above) = (above.0, below.1, above.1);
        self.rows = rows.iter().map(|&row| row as usize).collect();
        self.next = next;
        self.order.set_word_pos(order);
        self.masks.set_word_pos(masks);
        Ok(done)
    }
}
