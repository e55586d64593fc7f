//! The error of hyper-KRR, term by term, where the kernel that is learned is known.

use super::hyper_simulation::{
    Draw, Noise, POPULATION, RANGE, WIDTH, Way, World, average, distance, mean,
};
use mercer_learning::{LearningError, Streams};
use mercer_records::Record;
use mercer_render::{Cell, Column, Kind, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, Simulation};
use mercer_statistics::{line, summarise};
use mercer_theory::{Bound, PairRegularity, pair_ridge_index, pair_svr_index};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(crate) const SIMULATION: Simulation = Simulation {
    name: "theory/hyper-decomposition",
    measures: false,
    revision: 4,
    settings,
    compute,
};

/// Simulated samples.
const REPEATS: usize = 20;
/// Points where parts and landmarks vary; the ridge there.
const POINTS: usize = 64;
const LAMBDA: f64 = 1e-3;
/// Subsets, and landmarks of each; the first of each where the other varies.
const PARTS: [usize; 4] = [1, 2, 4, 8];
const LANDMARKS: [usize; 4] = [8, 3, 4, 6];
/// Ridges of the bias.
const RIDGES: [f64; 5] = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2];
/// Sizes of the learning curves, and the `α` of their ridges `λ = m^(−α)/10`.
const SIZES: [usize; 6] = [14, 20, 28, 40, 56, 80];
const ALPHAS: [f64; 2] = [0.5, 1.0];
/// Capacity of a Gaussian hyper-kernel: any positive number will do.
const CAPACITY: f64 = 0.01;
/// Half-width of the tube.
const EPSILON: f64 = 0.1;

fn settings() -> Value {
    json!({
        "population": POPULATION, "repeats": REPEATS, "points": POINTS, "lambda": LAMBDA, "parts": PARTS,
        "landmarks": LANDMARKS, "ridges": RIDGES, "sizes": SIZES, "alphas": ALPHAS,
        "epsilon": EPSILON, "tube": "m^-alpha / 4", "noise": WIDTH, "noise-of-propositions": "triangular",
    })
}

/// `(v, M)` of the table: parts with most landmarks, then landmarks with one part.
fn divisions() -> Vec<(usize, usize)> {
    let parts = PARTS.iter().map(|&v| (v, LANDMARKS[0]));
    parts.chain(LANDMARKS[1..].iter().map(|&landmarks| (1, landmarks))).collect()
}

fn ridge_of(alpha: f64, m: usize) -> f64 {
    0.1 * (m as f64).powf(-alpha)
}

/// Half-width of the tube on the learning curves of hyper-SVR: Theorem 7 wants it to fall at least as `m^(−α r)`,
/// `r ≤ 1`.
fn tube_of(alpha: f64, m: usize) -> f64 {
    0.25 * (m as f64).powf(-alpha)
}

type Numbers = BTreeMap<String, f64>;

fn compute() -> Result<Numbers, ExperimentError> {
    run().map_err(|error| ExperimentError::Form {
        file: file!().to_owned(),
        reason: error.to_string(),
    })
}

/// The population with the minimisers of all ridges that are looked at.
fn world() -> Result<World, LearningError> {
    let curves = ALPHAS.into_iter().flat_map(|alpha| SIZES.map(|m| ridge_of(alpha, m)));
    World::new(RIDGES.into_iter().chain([LAMBDA]).chain(curves))
}

fn run() -> Result<Numbers, LearningError> {
    let world = world()?;
    let mut numbers = BTreeMap::new();
    for (index, &lambda) in RIDGES.iter().enumerate() {
        let (limit, norm) = world.limit(lambda);
        let bias = distance(limit, world.truth());
        numbers.insert(format!("bias {index}"), bias);
        numbers.insert(format!("regularisation {index}"), bias + lambda * norm);
    }
    let limit = &world.limit(LAMBDA).0;
    numbers.insert("bias".to_owned(), distance(limit, world.truth()));
    let all: Vec<Numbers> = (0..REPEATS)
        .into_par_iter()
        .map(|repeat| one(&world, &Streams::root(11).child(&format!("repeat {repeat}"))))
        .collect::<Result<_, _>>()?;
    for name in all[0].keys() {
        let values: Vec<f64> = all.iter().map(|numbers| numbers[name]).collect();
        let summary = summarise(&values).expect("there are repeats");
        numbers.insert(name.clone(), summary.mean);
        let half = summary.half_width(0.95).expect("there are repeats");
        numbers.insert(format!("{name} ±"), half);
        numbers.insert(format!("{name} least"), values.iter().copied().fold(f64::MAX, f64::min));
        numbers.insert(format!("{name} most"), values.iter().copied().fold(f64::MIN, f64::max));
    }
    Ok(numbers)
}

/// All numbers of one sample.
fn one(world: &World, streams: &Streams) -> Result<Numbers, LearningError> {
    let mut numbers = terms_of(world, streams)?;
    numbers.extend(curves(world, streams)?);
    for m in SIZES {
        numbers.extend(bounds(world, m, streams)?);
    }
    Ok(numbers)
}

/// The terms of the error, division by division.
fn terms_of(world: &World, streams: &Streams) -> Result<Numbers, LearningError> {
    let mut numbers = BTreeMap::new();
    let limit = &world.limit(LAMBDA).0;
    let draw = World::draw(POINTS, Noise::Uniform, &streams.child("division"));
    for (v, landmarks) in divisions() {
        let way = |landmarks, noisy| Way { lambda: LAMBDA, landmarks, noisy };
        let solve = |way| world.by_parts(&draw, v, way, streams);
        let approximate = solve(way(Some(landmarks), true))?;
        let noise_free = solve(way(Some(landmarks), false))?;
        let exact = solve(way(None, false))?;
        let (whole, quiet, full) = (average(&approximate), average(&noise_free), average(&exact));
        let gaps = approximate.iter().zip(&noise_free).map(|(a, b)| distance(a, b));
        for (name, value) in [
            ("total", distance(&whole, world.truth())),
            ("noise of a subset", mean(gaps)),
            ("noise", distance(&whole, &quiet)),
            ("nystrom", distance(&quiet, &full)),
            ("sample of a subset", mean(exact.iter().map(|part| distance(part, limit)))),
            ("sample", distance(&full, limit)),
        ] {
            numbers.insert(format!("{name} v={v} M={landmarks}"), value);
        }
    }
    Ok(numbers)
}

/// The terms of the error on the learning curves.
fn curves(world: &World, streams: &Streams) -> Result<Numbers, LearningError> {
    let mut numbers = BTreeMap::new();
    for alpha in ALPHAS {
        for m in SIZES {
            let lambda = ridge_of(alpha, m);
            let draw = World::draw(m, Noise::Uniform, &streams.child(&format!("curve {m}")));
            let solve = |noisy| {
                let way = Way { lambda, landmarks: None, noisy };
                Ok::<_, LearningError>(average(&world.by_parts(&draw, 1, way, streams)?))
            };
            let (noisy, quiet, limit) = (solve(true)?, solve(false)?, &world.limit(lambda).0);
            for (name, value) in [
                ("total", distance(&noisy, world.truth())),
                ("noise", distance(&noisy, &quiet)),
                ("sample", distance(&quiet, limit)),
                ("bias", distance(limit, world.truth())),
            ] {
                numbers.insert(format!("{name} alpha={alpha} m={m}"), value);
            }
            let draw = World::draw(m, Noise::Triangular, &streams.child(&format!("curve {m}")));
            let tube = world.tube(&draw, lambda, tube_of(alpha, m))?;
            let clipped = tube.values.mapv(|value| value.clamp(-1.0, 1.0));
            numbers.insert(format!("tube alpha={alpha} m={m}"), distance(&clipped, world.truth()));
        }
    }
    Ok(numbers)
}

/// Both sides of the propositions for a sample of `m` points.
fn bounds(world: &World, m: usize, streams: &Streams) -> Result<Numbers, LearningError> {
    let draw = World::draw(m, Noise::Triangular, &streams.child(&format!("curve {m}")));
    let found = propositions(world, &draw)?;
    Ok(found.map(|(name, value)| (format!("{name} m={m}"), value)).into())
}

/// Both sides of Propositions 9 and 10 for hyper-SVR with the absolute loss, clipped at
/// `B = 1 ≥ |k_ρ|`.
///
/// Proposition 9: triangular noise on `[−W, W]` has a median of ∞-average type 2 with `a = W` and
/// `b = 1/(2W)`, as `P(0 ≤ ε ≤ u) = u/W − u²/(2W²) ≥ u/(2W)`; so `p* = 2` and
/// `C_q = √2 √2 (1/(a b))^½ = 2√2`. (Under uniform noise of `W = ½` the excess is the squared distance while gaps
/// stay below `W`, and the proposition says `1 ≤ 2√2` of every sample.) Nor can a sample break it under this noise:
/// a gap `δ ≤ W` has the excess `δ²/W − δ³/(3W²)`, so that the share lies between the [`shares`] of no gap and of `W`.
///
/// Proposition 10 compares with the minimiser `k_λ` of the population; its proof holds for any kernel
/// in its place, and here it is that of the squared loss, which is at hand.
fn propositions(world: &World, draw: &Draw) -> Result<[(&'static str, f64); 4], LearningError> {
    let tube = world.tube(draw, LAMBDA, EPSILON)?;
    let clipped = tube.values.mapv(|value| value.clamp(-1.0, 1.0));
    let excess = world.absolute_excess(&clipped);
    let left = distance(&clipped, world.truth()).sqrt();
    let (other, norm) = world.limit(LAMBDA);
    let at = |values| World::at(draw, values);
    let loss = |values: &ndarray::Array2<f64>| {
        mean(values.iter().zip(&tube.target).map(|(k, y)| (k - y).abs()))
    };
    let own_truth = loss(&at(world.truth()));
    let own_clipped = loss(&tube.at_sample.mapv(|value| value.clamp(-1.0, 1.0)));
    let first = excess - (own_clipped - own_truth);
    let other_excess = world.absolute_excess(other);
    let second = (loss(&at(other)) - own_truth) - other_excess;
    let output = mean(tube.target.iter().map(|y| (y.clamp(-1.0, 1.0) - y).abs()));
    let bound = other_excess + LAMBDA * norm + first + second + output + EPSILON;
    Ok([
        ("distance", left),
        ("distance over bound", left / (2.0 * 2f64.sqrt() * excess.sqrt())),
        ("excess", excess + LAMBDA * tube.norm),
        ("excess over bound", (excess + LAMBDA * tube.norm) / bound),
    ])
}

/// Left side over right side of Proposition 9 where all gaps are near 0, and where all are `W`: the excess is
/// `1/W` and `2/(3W)` times the squared distance.
fn shares() -> [f64; 2] {
    [WIDTH, 1.5 * WIDTH].map(|inverse| inverse.sqrt() / (2.0 * 2f64.sqrt()))
}

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let [terms, slopes, checks] = [terms(artefact), slopes(), checks()];
    let Some(record) = context.records.get(&SIMULATION.key()) else {
        let note = "Not run yet: mercer reproduce theory/hyper-decomposition";
        let tables = [terms, slopes, checks].map(|table| table.note(note)).to_vec();
        return Ok(Rendered { tables, ..Rendered::default() });
    };
    let tables = vec![
        divisions().into_iter().fold(terms, |table, division| table.row(of(record, division))),
        slope_rows(record)?.into_iter().fold(slopes, Table::row),
        SIZES.iter().fold(checks, |table, &m| table.row(check(record, m))),
    ];
    Ok(Rendered { tables, ..Rendered::default() })
}

/// The table of the terms, without its rows.
fn terms(artefact: &Artefact) -> Table {
    let pairs = POPULATION * (POPULATION + 1) / 2;
    Table::new(&artefact.id, &artefact.title)
        .caption(format!("Mean squared error (times 10⁴) of averaged Nyström estimators with v subsets and M landmarks each, and the terms of its decomposition in Section 4.4. Each number is over {REPEATS} simulated samples of m = {POINTS} points, ± half of its 95 % interval."))
        .columns([Column::right("v"), Column::right("M")])
        .columns(["Total", "Noise, printed", "Noise", "Nyström", "Sample, printed", "Sample", "Bias", "Total / sum"].map(Column::right))
        .note(format!("Squares are means over the population: {POPULATION} equally likely points of the unit interval, {pairs} pairs. Samples are drawn with replacement."))
        .note(format!("The kernel that made the data is exp(−|x − x'|/{RANGE}). The ridge is λ = {LAMBDA}."))
        .note("Total: the averaged noisy Nyström estimator against the kernel that made the data.")
        .note("Noise: the estimator against itself without noise. Noise, printed: 1/v times the noise of one subset, as the decomposition has it.")
        .note("Nyström: the estimator without noise against the same without Nyström's approximation.")
        .note("Sample: the estimator without noise and without Nyström's approximation against the population's k_λ. Sample, printed: 1/v times the sample term of one subset.")
        .note("Bias: k_λ against the kernel that made the data.")
        .note("Total / sum: the total over the sum of the four terms as printed. The inequality holds up to a constant.")
}

/// The table of the slopes, without its rows.
fn slopes() -> Table {
    let [smallest, .., largest] = SIZES;
    Table::new("theory/hyper-decomposition-slopes", "Slopes beside the predicted ones")
        .caption(format!("How fast mean squared errors fall with m = {smallest} to {largest} points where λ = m^(−α)/10, beside the predicted exponents. An exponent is a least-squares slope on logarithms with its 95 % interval."))
        .columns(["Term", "Against"].map(Column::left))
        .columns(["Measured", "95 %", "Printed, squared", "Consistent"].map(Column::right))
        .note(format!("The population is the same {POPULATION} points, and there is no Nyström approximation."))
        .note("Printed, squared: minus twice the index of Theorem 8 as printed, since that index is of a norm and not of its square.")
        .note(format!("Consistent: minus the consistent index of the squared norm, with s = {CAPACITY} and one r for both α."))
        .note("r is the exponent of the bias over the ridges of both α (second row). The first row has the exponent of D(λ), the bias with its penalty.")
        .note("At least as fast, more slowly or inconclusive: the interval of the measured slope beside the range of the prediction, which stands below it. The range covers the 95 % interval of r.")
        .note("The prediction is a bound, so the error may fall faster.")
        .note("Here the bias is no power of λ, so r is a number for this range of ridges and no constant of the problem. Agreement with the consistent index says only that the bias decides the total.")
        .note("Hyper-SVR: C = 1/(2 λ m²) with the same λ and ε = m^(−α)/4, clipped at 1. Its noise satisfies Propositions 9 and 10 (p = ∞, q = 2).")
        .note("The rows of hyper-SVR have the square of its L² distance. Theorem 7 lets it fall as m^(−Θ), with Θ as printed and as its proof gives it, and with the same r and s.")
}

/// The table of the propositions, without its rows.
fn checks() -> Table {
    let [least, most] = shares();
    Table::new("theory/hyper-decomposition-propositions", "Propositions 9 and 10, both sides")
        .caption(format!("Both sides of Propositions 9 and 10 for hyper-SVR on {REPEATS} simulated samples of m points. A share is the left side over the right side, and never exceeds 1 where a proposition holds."))
        .columns([Column::right("m")])
        .columns(["Distance", "of its bound", "smallest", "largest", "Excess", "of its bound", "largest"].map(Column::right))
        .note(format!("Hyper-SVR has ε = {EPSILON}, C = 1/(2 λ m²) and λ = {LAMBDA}, and is clipped at 1. The population is the same {POPULATION} points."))
        .note("Distance: mean L² distance to the truth (Proposition 9). Excess: mean excess of the absolute loss plus λ‖k‖² (Proposition 10).")
        .note("Of its bound: the mean share, with the smallest share (Proposition 9 only) and the largest.")
        .note(format!("Proposition 9 has no hard test here. By algebra its share lies between {least:.3} and {most:.3}, whatever is learned."))
        .note(format!("The noise is triangular on ±W with W = {WIDTH}, so a gap δ below W has the excess δ²/W − δ³/(3W²). Under uniform noise Proposition 9 would be an identity."))
        .note(format!("Proposition 10 has no hard test either. Its right side contains ε = {EPSILON}, beside which these excesses are small."))
}

fn fact(record: &Record, name: &str) -> f64 {
    record.result.facts.get(name).copied().unwrap_or(f64::NAN)
}

fn of(record: &Record, (v, landmarks): (usize, usize)) -> Row {
    let name = |term: &str| format!("{term} v={v} M={landmarks}");
    let get = |term: &str| fact(record, &name(term));
    let share = 1.0 / v as f64;
    let cell = |term: &str, factor: f64| {
        let (value, half) = (get(term), fact(record, &format!("{} ±", name(term))));
        Cell::text(format!("{:.2} ± {:.2}", 1e4 * factor * value, 1e4 * factor * half)).sort(value)
    };
    let bias = fact(record, "bias");
    let sum = share * get("noise of a subset")
        + get("nystrom")
        + share * get("sample of a subset")
        + bias;
    Row::new([
        Cell::count(v),
        Cell::count(landmarks),
        cell("total", 1.0),
        cell("noise of a subset", share),
        cell("noise", 1.0),
        cell("nystrom", 1.0),
        cell("sample of a subset", share),
        cell("sample", 1.0),
        Cell::number(1e4 * bias, 2),
        Cell::number(get("total") / sum, 2),
    ])
}

fn slope_rows(record: &Record) -> Result<Vec<Row>, ExperimentError> {
    let points: Vec<(f64, f64)> = RIDGES
        .iter()
        .enumerate()
        .map(|(i, lambda)| (lambda.ln(), fact(record, &format!("regularisation {i}")).ln()))
        .collect();
    let mut rows = vec![slope_row("D(λ)", "λ", &points, None)?];
    // The source condition has one exponent of the bias in λ, whatever the α of a curve.
    let biases = ALPHAS.into_iter().flat_map(|alpha| {
        SIZES.map(|m| {
            let bias = fact(record, &format!("bias alpha={alpha} m={m}"));
            (ridge_of(alpha, m).ln(), bias.ln())
        })
    });
    let biases: Vec<(f64, f64)> = biases.collect();
    let measured = line(&biases)?;
    let (source_low, source_high) = measured.interval(0.95)?;
    // The index at what was measured of r, and at both ends of its interval.
    let over_source = |index: &dyn Fn(f64) -> f64| {
        let [at, low, high] =
            [measured.slope, source_low, source_high].map(|source| index(source.clamp(0.01, 1.0)));
        Range { at, low: low.min(high), high: low.max(high) }
    };
    rows.push(slope_row("bias, both α", "λ", &biases, None)?);
    for alpha in ALPHAS {
        let of_term = |term: &str| -> Vec<(f64, f64)> {
            let number = |m: usize| fact(record, &format!("{term} alpha={alpha} m={m}"));
            SIZES.iter().map(|&m| ((m as f64).ln(), number(m).ln())).collect()
        };
        let problem = |source| PairRegularity { alpha, source, capacity: CAPACITY };
        let value = |found: Result<Bound, _>| found.map_or(f64::NAN, |bound| bound.value);
        let ridge = |source, consistent| value(pair_ridge_index(problem(source), consistent));
        let tube = |source, consistent| {
            value(pair_svr_index(problem(source), f64::INFINITY, 2.0, consistent))
        };
        for term in ["total", "noise", "sample", "bias"] {
            let predicted = (term == "total").then(|| {
                [
                    over_source(&|source| -2.0 * ridge(source, false)),
                    over_source(&|source| -ridge(source, true)),
                ]
            });
            rows.push(slope_row(format!("{term}, α = {alpha}"), "m", &of_term(term), predicted)?);
        }
        let tube = [false, true].map(|consistent| over_source(&|source| -tube(source, consistent)));
        rows.push(slope_row(format!("hyper-SVR, α = {alpha}"), "m", &of_term("tube"), Some(tube))?);
    }
    for term in ["noise", "sample"] {
        let points: Vec<(f64, f64)> = PARTS
            .iter()
            .map(|&v| {
                let name = format!("{term} v={v} M={}", LANDMARKS[0]);
                ((v as f64).ln(), fact(record, &name).ln())
            })
            .collect();
        rows.push(slope_row(format!("{term}, m = {POINTS} divided"), "v", &points, None)?);
    }
    Ok(rows)
}

/// The slope of a term over these points, beside the predicted ones.
fn slope_row(
    term: impl Into<String>,
    against: &str,
    points: &[(f64, f64)],
    predicted: Option<[Range; 2]>,
) -> Result<Row, ExperimentError> {
    let found = line(points)?;
    let (low, high) = found.interval(0.95)?;
    let [printed, consistent] = predicted.map_or_else(
        || [Cell::text(""), Cell::text("")],
        |slopes| slopes.map(|slope| beside(slope, low, high)),
    );
    Ok(Row::new([
        Cell::text(term),
        Cell::text(against),
        Cell::number(found.slope, 2),
        Cell::text(format!("{low:.2} to {high:.2}")),
        printed,
        consistent,
    ]))
}

/// A predicted slope, and its ends over the interval of the exponent that it is predicted from.
#[derive(Debug, Clone, Copy)]
struct Range {
    at: f64,
    low: f64,
    high: f64,
}

/// A predicted slope, and whether one with this interval falls as fast, wherever in its range the prediction is.
fn beside(predicted: Range, low: f64, high: f64) -> Cell {
    let (word, kind) = if high <= predicted.low {
        ("at least as fast", Kind::Good)
    } else if low > predicted.high {
        ("more slowly", Kind::Bad)
    } else {
        ("inconclusive", Kind::Neutral)
    };
    let range = format!("{:.2} to {:.2}", predicted.low, predicted.high);
    Cell::number(predicted.at, 2).detail(range).badge(word, kind)
}

fn check(record: &Record, m: usize) -> Row {
    let get = |name: &str| fact(record, &format!("{name} m={m}"));
    let most = |name: &str| fact(record, &format!("{name} m={m} most"));
    let least = |name: &str| fact(record, &format!("{name} m={m} least"));
    Row::new([
        Cell::count(m),
        Cell::number(get("distance"), 4),
        Cell::number(get("distance over bound"), 3),
        Cell::number(least("distance over bound"), 3),
        Cell::number(most("distance over bound"), 3),
        Cell::number(get("excess"), 4),
        Cell::number(get("excess over bound"), 3),
        Cell::number(most("excess over bound"), 3),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_is_held_to_a_bound_that_may_be_passed() {
        let point = Range { at: -0.4, low: -0.4, high: -0.4 };
        let word = |low, high| beside(point, low, high).badge.unwrap().text;
        assert_eq!(word(-0.9, -0.5), "at least as fast");
        assert_eq!(word(-0.3, -0.1), "more slowly");
        assert_eq!(word(-0.5, -0.3), "inconclusive");
        // The exponent behind the prediction is measured too: -0.39, from -0.50 to -0.26.
        let measured = Range { at: -0.39, low: -0.50, high: -0.26 };
        assert_eq!(beside(measured, -0.36, -0.13).badge.unwrap().text, "inconclusive");
        assert_eq!(beside(measured, -0.25, -0.13).badge.unwrap().text, "more slowly");
        assert_eq!(beside(measured, -0.9, -0.51).badge.unwrap().text, "at least as fast");
    }

    /// The ends of the share of Proposition 9 are those of the excess of equal gaps.
    #[test]
    fn equal_gaps_have_the_shares_that_the_caption_names() {
        let world = World::new([]).unwrap();
        for (gap, share) in [1e-6, WIDTH].into_iter().zip(shares()) {
            let excess = world.absolute_excess(&(world.truth() + gap));
            let found = gap / (2.0 * 2f64.sqrt() * excess.sqrt());
            assert!((found - share).abs() < 1e-5, "{gap}: {found} {share}");
        }
    }

    /// The four terms bound the total up to the 4 of (a + b + c + d)², subset by subset; and the
    /// propositions hold.
    #[test]
    fn one_sample_keeps_the_inequalities() {
        let world = World::new([LAMBDA]).unwrap();
        let streams = Streams::root(5);
        let mut numbers = terms_of(&world, &streams).unwrap();
        let bias = distance(&world.limit(LAMBDA).0, world.truth());
        for (v, landmarks) in divisions() {
            let get = |term: &str| numbers[&format!("{term} v={v} M={landmarks}")];
            let sum = get("noise") + get("nystrom") + get("sample") + bias;
            assert!(get("total") <= 4.0 * sum, "v={v} M={landmarks}");
            // An average is no farther than its parts are on average.
            assert!(get("noise") <= get("noise of a subset") * (1.0 + 1e-9));
            assert!(get("sample") <= get("sample of a subset") * (1.0 + 1e-9));
        }
        for m in &SIZES[..4] {
            numbers.extend(bounds(&world, *m, &streams).unwrap());
            for name in ["distance", "excess"] {
                let share = numbers[&format!("{name} over bound m={m}")];
                assert!(share > 0.0 && share <= 1.0, "{name} m={m}: {share}");
            }
        }
    }
}
