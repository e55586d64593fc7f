//! Where the training of a network stands: all that determines its further steps.

use super::training::Training;
use mercer_learning::{Element, LearningError, State};
use mercer_linalg::Real;
use mercer_solvers::{Memory, Optimiser};
use ndarray::{ArrayView1, Ix1};

impl<F: Real + Element> Training<F> {
    /// Returns the state after `done` steps.
    pub fn standing(&self, done: usize) -> State {
        let rows: Vec<u32> = self.order.rows.iter().map(|&row| row as u32).collect();
        let (first, second) = self.memory.moments();
        let (logs_first, logs_second) = self.logs.memory.moments();
        State::new()
            .with("done", done)
            .with("jitter-steps", self.jittered)
            .with("next", self.order.next)
            // 128 bits: as text.
            .with("order", self.order.rng.get_word_pos().to_string())
            .with("masks", self.masks.get_word_pos().to_string())
            .with_array("rows", &ArrayView1::from(&rows))
            .with_array("parameters", &ArrayView1::from(self.net.parameters()))
            .with_array("first", &ArrayView1::from(first))
            .with_array("second", &ArrayView1::from(second))
            .with_array("logs", &ArrayView1::from(&self.logs.values))
            .with_array("logs-first", &ArrayView1::from(logs_first))
            .with_array("logs-second", &ArrayView1::from(logs_second))
    }

    /// Goes on from a state that was kept before the last of `steps`, and returns the steps done.
    pub fn go_on(&mut self, kept: Option<&State>, steps: usize, optimiser: Optimiser) -> usize {
        // A state of another network or other rows is not this fit's: it begins anew.
        let kept = kept.and_then(|state| TrainingState::of(state, self).ok());
        let Some(standing) = kept.filter(|standing| standing.done < steps) else { return 0 };
        let done = standing.done;
        standing.restore(optimiser, self);
        done
    }
}

/// A state that fits a training.
struct TrainingState<F> {
    /// Steps that were run.
    done: usize,
    /// Those whose factorisation needed a jitter.
    jittered: usize,
    next: usize,
    /// Places in the streams of batches and masks.
    places: [u128; 2],
    rows: Vec<usize>,
    /// Parameters, first and second moments.
    network: [Vec<F>; 3],
    logs: [Vec<f64>; 3],
}

impl<F: Real + Element> TrainingState<F> {
    /// Reads a state, if it is one of such a training.
    fn of(state: &State, training: &Training<F>) -> Result<Self, LearningError> {
        let place = |name: &str| -> Result<u128, LearningError> {
            let text: String = state.value(name)?;
            text.parse().map_err(|_| wrong(name, "is no place in a stream"))
        };
        let (first, second) = training.memory.moments();
        let lengths = [training.net.parameters().len(), first.len(), second.len()];
        let (first, second) = training.logs.memory.moments();
        let log_lengths = [training.logs.values.len(), first.len(), second.len()];
        let n = training.order.rows.len();
        let rows = array::<u32>(state, "rows", n)?;
        let mut seen = vec![false; n];
        for &row in &rows {
            if seen.get_mut(row as usize).is_none_or(|seen| std::mem::replace(seen, true)) {
                return Err(wrong("rows", "are no permutation"));
            }
        }
        let next: usize = state.value("next")?;
        if next > n {
            return Err(wrong("next", "is beyond the rows"));
        }
        let done: usize = state.value("done")?;
        Ok(Self {
            done,
            // A state of before these were counted has none; it is not worth training anew for that.
            jittered: state.value::<usize>("jitter-steps").unwrap_or(0).min(done),
            next,
            places: [place("order")?, place("masks")?],
            rows: rows.into_iter().map(|row| row as usize).collect(),
            network: [
                array(state, "parameters", lengths[0])?,
                array(state, "first", lengths[1])?,
                array(state, "second", lengths[2])?,
            ],
            logs: [
                array(state, "logs", log_lengths[0])?,
                array(state, "logs-first", log_lengths[1])?,
                array(state, "logs-second", log_lengths[2])?,
            ],
        })
    }

    /// Puts the training where the state says.
    fn restore(self, optimiser: Optimiser, training: &mut Training<F>) {
        let [parameters, first, second] = self.network;
        training.net.update().0.copy_from_slice(&parameters);
        training.memory = Memory::of(optimiser, parameters.len(), first, second);
        let [values, first, second] = self.logs;
        training.logs.memory = Memory::of(optimiser, values.len(), first, second);
        training.logs.values = values;
        training.order.rows = self.rows;
        training.order.next = self.next;
        training.order.rng.set_word_pos(self.places[0]);
        training.masks.set_word_pos(self.places[1]);
        training.jittered = self.jittered;
    }
}

fn wrong(name: &str, problem: &str) -> LearningError {
    LearningError::State { name: name.to_owned(), problem: problem.to_owned() }
}

fn array<T: Element>(state: &State, name: &str, length: usize) -> Result<Vec<T>, LearningError> {
    Ok(state.array_of::<T, Ix1>(name, length)?.to_vec())
}
