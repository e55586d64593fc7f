//! Figures of what methods say of their test rows.

use crate::curves::{
    average_precision, calibration_error, error_by_chance, precision_recall, reliability, roc,
    thinned,
};
use crate::intervals::NamedInterval;
use crate::{Comparison, CurvePoint, Evaluation};
use mercer_datasets::Truths;
use mercer_learning::{Predictions, by_class, counted};
use mercer_render::{
    Axis, Block, Cell, Column, Figure, Legend, Mark, Panel, Report, Row, Section, Series, Style,
    Table, number,
};

/// Classes whose counts stand side by side.
const ACROSS: usize = 10;
/// Classes that have a curve.
const CURVES: usize = 6;
/// Columns whose dependence is drawn.
const DEPENDENCES: usize = 4;
/// Points of a cloud, over all methods.
const POINTS: usize = 1200;
/// Groups of probabilities.
const BINS: usize = 10;

/// Adds the section of the test rows to a page: curves, calibration and confusions of classes, residuals of numbers.
pub(crate) fn looks(report: Report, comparison: &Comparison, prefix: &str, head: &str) -> Report {
    let methods: Vec<(&str, &Evaluation)> = comparison
        .methods
        .iter()
        .filter_map(|method| Some((method.method.as_str(), method.evaluation.as_ref().ok()?)))
        .collect();
    let Some((_, first)) = methods.first() else { return report };
    let id = |name: &str| format!("{prefix}{name}");
    let rows = counted(first.said.truths.len(), "row", "rows");
    let mut section = Section::new(id("test-rows"), head).intro(format!(
        "What was predicted for {rows} that tested in the first repeat, each once. The parts of a repeat are pooled."
    ));
    let blocks = match &first.said.truths {
        Truths::Classes(_) => {
            let curves = if comparison.classes.len() == 2 {
                two_classes(&methods, &comparison.classes, &id)
            } else {
                one_against_the_rest(&methods, &comparison.classes, &id)
            };
            let calibration = calibration(&methods, &comparison.classes, id("calibration"));
            let curves = curves.into_iter().chain(calibration).map(Block::Figure);
            curves.chain([confusions(&methods, &comparison.classes, id("confusion"))]).collect()
        }
        Truths::Values(_) => vec![Block::Figure(residuals(&methods, id("residuals")))],
    };
    let blocks: Vec<Block> = blocks;
    let more = [
        learning_curves(&methods, comparison, id("learning-curve")),
        importances(&methods, comparison, id("importance")),
        dependences(&methods, id("dependence")),
    ];
    for block in blocks.into_iter().chain(more.into_iter().flatten().map(Block::Figure)) {
        section = section.block(block);
    }
    report.section(section)
}

fn share_axis(label: impl Into<String>) -> Axis {
    Axis::linear(label).range(0.0, 1.0)
}

fn labels(said: &NamedInterval) -> &[u32] {
    match &said.truths {
        Truths::Classes(labels) => labels,
        Truths::Values(_) => &[],
    }
}

/// The scores of a class beside whether each row is of it.
fn of_class(said: &NamedInterval, class: usize) -> Option<(Vec<f64>, Vec<bool>)> {
    let truth = labels(said).iter().map(|&label| label as usize == class).collect();
    Some((said.of_class(class)?, truth))
}

const ROC: &str = "Receiver operating characteristic";
const PRECISION_RECALL: &str = "Precision and recall";

fn roc_panel() -> Panel {
    Panel::new(share_axis("others taken for it, share"), share_axis("found, share"))
}

/// The diagonal, in the legend behind the curves compared with it.
fn diagonal(label: &str) -> Series {
    Series::line(label, [(0.0, 0.0), (1.0, 1.0)]).style(Style::Dashed).color(6)
}

/// Recall at the largest threshold with at least a tenth of false alarms, up to straight lines between points.
fn at_a_tenth(curve: &[(f64, f64)]) -> f64 {
    let after = curve.iter().position(|point| point.0 > 0.1).unwrap_or(curve.len() - 1).max(1);
    let ((x0, y0), (x1, y1)) = (curve[after - 1], curve[after]);
    if x1 > x0 { y0 + (y1 - y0) * (0.1 - x0) / (x1 - x0) } else { y1 }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// The steps that average precision is the area under.
fn steps(curve: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let before = std::iter::once(0.0).chain(curve.iter().map(|point| point.0));
    curve
        .iter()
        .zip(before)
        .flat_map(|(&(recall, own), before)| [(before, own), (recall, own)])
        .collect()
}

/// Both curves of the second class, a line a method.
fn two_classes(
    methods: &[(&str, &Evaluation)],
    classes: &[String],
    id: &impl Fn(&str) -> String,
) -> Vec<Figure> {
    let name = &classes[1];
    let mut rocs = roc_panel();
    let mut precisions = Panel::new(share_axis("recall"), share_axis("precision"));
    let (mut found, mut averages) = (Vec::new(), Vec::new());
    for (at, (title, evaluation)) in methods.iter().enumerate() {
        let Some((scores, truth)) = of_class(&evaluation.said, 1) else { continue };
        let (roc, points) = (roc(&scores, &truth), precision_recall(&scores, &truth));
        if roc.is_empty() {
            return Vec::new();
        }
        found.push(format!("{title} {}", percent(at_a_tenth(&roc))));
        averages.push(format!("{title} {:.3}", average_precision(&points)));
        rocs = rocs.series(Series::line(*title, thinned(&roc)).color(at));
        precisions = precisions.series(Series::line(*title, thinned(&steps(&points))).color(at));
    }
    let (found, averages) = (found.join(", "), averages.join(", "));
    let of_name = share_of(methods[0].1, 1);
    let label = format!("share of {name}");
    vec![
        Figure::new(id("roc"), ROC)
            .caption(format!(
                "Share of the rows of class {name} that are found (up) against the share of the other rows that are taken for \
                 {name} (across), over all thresholds. Nearer to the upper left is better. Found at 10 % false \
                 alarms: {found}."
            ))
            .alternative(format!("Share of {name} found at 10 % false alarms: {found}."))
            .compact()
            .panel(rocs.series(diagonal("guessing"))),
        Figure::new(id("precision-recall"), PRECISION_RECALL)
            .caption(format!(
                "Of the rows taken for {name} the share that is {name} (up), against the share of all {name} rows \
                 that are found (across). Nearer to the upper right is better. Average precision: {averages}."
            ))
            .alternative(format!("Average precision for {name}: {averages}."))
            .compact()
            .panel(precisions.mark(Mark::Horizontal { y: of_name, label })),
    ]
}

/// The share of a class among the test rows.
fn share_of(evaluation: &Evaluation, class: usize) -> f64 {
    let labels = labels(&evaluation.said);
    labels.iter().filter(|&&label| label as usize == class).count() as f64 / labels.len() as f64
}

/// Both curves of each class against all others, a panel a method; of many classes the most frequent.
fn one_against_the_rest(
    methods: &[(&str, &Evaluation)],
    classes: &[String],
    id: &impl Fn(&str) -> String,
) -> Vec<Figure> {
    let mut shown: Vec<usize> = (0..classes.len()).collect();
    let share = |class: &usize| share_of(methods[0].1, *class);
    shown.sort_by(|a, b| share(b).total_cmp(&share(a)));
    shown.truncate(CURVES);
    shown.sort_unstable();
    let left_out = classes.len() - shown.len();
    let only = if left_out == 0 {
        String::new()
    } else {
        format!(" The {CURVES} most frequent of {} classes are shown.", classes.len())
    };
    let mut rocs = Figure::new(id("roc"), ROC).compact();
    let mut precisions = Figure::new(id("precision-recall"), PRECISION_RECALL).compact();
    let (mut found, mut averages) = (Vec::new(), Vec::new());
    for (title, evaluation) in methods {
        let mut above = roc_panel().title(*title);
        let mut below = Panel::new(share_axis("recall"), share_axis("precision")).title(*title);
        for &class in &shown {
            let Some((scores, truth)) = of_class(&evaluation.said, class) else { continue };
            let (roc, points) = (roc(&scores, &truth), precision_recall(&scores, &truth));
            if roc.is_empty() {
                continue;
            }
            let name = &classes[class];
            found.push(format!("{title}, {name}: {}", percent(at_a_tenth(&roc))));
            averages.push(format!("{title}, {name}: {:.3}", average_precision(&points)));
            above = above.series(Series::line(name, thinned(&roc)));
            below = below.series(Series::line(name, thinned(&steps(&points))));
        }
        rocs = rocs.panel(above.series(diagonal("guessing")));
        precisions = precisions.panel(below);
    }
    if found.is_empty() {
        return Vec::new();
    }
    vec![
        rocs.caption(format!(
            "Each class against all others: the share of its rows that are found (up) against the share of the other rows \
             that are taken for it (across), over all thresholds. Nearer to the upper left is better.{only}"
        ))
        .alternative(format!("Share found at 10 % false alarms. {}.", found.join("; "))),
        precisions
            .caption(format!(
                "Each class against all others: of the rows taken for it the share that is right (up), against the share \
                 of its rows that are found (across). Nearer to the upper right is better.{only}"
            ))
            .alternative(format!("Average precision. {}.", averages.join("; "))),
    ]
}

/// Probabilities and whether what they are of happened: of two classes the second, of more that the class of the
/// largest probability is the true one.
fn confidences(said: &NamedInterval) -> Option<(Vec<f64>, Vec<bool>)> {
    if said.classes == 2 {
        said.shares.as_ref()?;
        return of_class(said, 1);
    }
    let Predictions::Classes(predicted) = &said.predictions else { return None };
    let shares = said.shares.as_ref()?.rows();
    let largest = shares.into_iter().map(|row| row.iter().copied().fold(0.0, f64::max)).collect();
    Some((largest, predicted.iter().zip(labels(said)).map(|(a, b)| a == b).collect()))
}

/// How often comes true what has a probability of so much, with how many rows say so; of no method without
/// probabilities.
fn calibration(methods: &[(&str, &Evaluation)], classes: &[String], id: String) -> Option<Figure> {
    let (of, happened) = if classes.len() == 2 {
        (format!("probability of {}", classes[1]), format!("are {}", classes[1]))
    } else {
        ("largest probability".to_owned(), "are right".to_owned())
    };
    let mut curve = Panel::new(share_axis(of.as_str()), share_axis(format!("{happened}, share")));
    let mut counts = Panel::new(share_axis(of.as_str()), Axis::linear("rows"));
    let mut gaps = Vec::new();
    for (at, (title, evaluation)) in methods.iter().enumerate() {
        let Some((shares, truth)) = confidences(&evaluation.said) else { continue };
        let bins = reliability(&shares, &truth, BINS);
        let points = bins.iter().map(|bin| (bin.mean, bin.share));
        let limits = bins.iter().map(|bin| bin.interval);
        let line = Series::line(*title, points).style(Style::LinePoints).band(limits);
        curve = curve.series(line.color(at));
        let rows = bins.iter().map(|bin| (bin.middle, bin.rows as f64));
        counts = counts.series(Series::bars(*title, rows).color(at));
        let (low, high) = error_by_chance(&shares, BINS);
        gaps.push(format!("{title} {:.3} ({low:.3} to {high:.3})", calibration_error(&bins)));
    }
    let gaps = gaps.join(", ");
    (!gaps.is_empty()).then(|| {
        Figure::new(id, "Calibration")
            .caption(format!(
                "Rows in {BINS} groups by their {of}: the share of them that {happened} (up) against the mean probability \
                 (across), with 95 % intervals (Wilson). On the dashed line probabilities come true as often as they say. \
                 Below: the rows of each group. Mean distance from the line (in brackets: what true probabilities have on \
                 so many rows, 95 %): {gaps}."
            ))
            .alternative(format!("Mean distance of probabilities from how often they come true: {gaps}."))
            .compact()
            .panel(curve.series(diagonal("as they say")))
            .panel(counts)
    })
}

/// Which class was taken for which, over all splits; of many classes the most frequent errors.
fn confusions(methods: &[(&str, &Evaluation)], classes: &[String], id: String) -> Block {
    let all = methods.iter().filter_map(|(title, own)| Some((*title, own.confusion.as_ref()?)));
    let share = |count: u64, counts: &[u64]| {
        let rows: u64 = counts.iter().sum();
        if rows == 0 { String::new() } else { percent(count as f64 / rows as f64) }
    };
    let mut table = Table::new(id, "Which class was taken for which");
    if classes.len() <= ACROSS {
        table = table
            .caption("Rows of each true class by the class that was predicted, over all splits, and their share of the class. Precision, recall and F1 are of the class.")
            .columns([Column::left("true class")])
            .columns(classes.iter().map(|name| Column::right(format!("as {name}"))))
            .columns(["precision", "recall", "F1"].map(Column::right));
        for (title, confusion) in all {
            let found = by_class(confusion);
            for (class, counts) in confusion.iter().enumerate() {
                let own = (0..3).map(|at| match found[class] {
                    Some(own) => Cell::number(own[at], 3),
                    None => Cell::text("-"),
                });
                let cell = |(other, &count): (usize, &u64)| {
                    let cell = Cell::count(count as usize).detail(share(count, counts));
                    if other == class { cell.bold() } else { cell }
                };
                let cells = counts.iter().enumerate().map(cell);
                let name = std::iter::once(Cell::text(classes[class].clone()));
                table = table.row(Row::new(name.chain(cells).chain(own)).under(title));
            }
        }
        return Block::Table(table);
    }
    table = table
        .caption(format!(
            "The {ACROSS} most frequent errors, over all splits, and their share of the true class."
        ))
        .columns(["true class", "predicted"].map(Column::left))
        .columns(["rows", "share"].map(Column::right));
    for (title, confusion) in all {
        let errors = confusion.iter().enumerate().flat_map(|(class, counts)| {
            let wrong = counts.iter().enumerate().filter(move |(other, _)| *other != class);
            wrong.map(move |(other, &count)| (count, class, other, share(count, counts)))
        });
        let mut errors: Vec<_> = errors.filter(|(count, ..)| *count > 0).collect();
        errors.sort_by_key(|(count, ..)| std::cmp::Reverse(*count));
        for (count, class, other, share) in errors.into_iter().take(ACROSS) {
            let [class, other] = [class, other].map(|at| Cell::text(classes[at].clone()));
            let cells = [class, other, Cell::count(count as usize), Cell::text(share)];
            table = table.row(Row::new(cells).under(title));
        }
    }
    Block::Table(table)
}

/// The metric against the training rows, a line a method.
fn learning_curves(
    methods: &[(&str, &Evaluation)],
    comparison: &Comparison,
    id: String,
) -> Option<Figure> {
    let metric = comparison.metric.name();
    let mut panel = Panel::new(Axis::log2("training rows"), Axis::linear(metric));
    let mut gains = Vec::new();
    for (at, (title, evaluation)) in methods.iter().enumerate() {
        let Some([before @ .., last]) = evaluation.learning_curve.as_deref() else { continue };
        let all = || before.iter().chain([last]);
        let points = all().map(|point| (point.rows as f64, point.mean));
        let std = |point: &CurvePoint| point.std.unwrap_or(0.0);
        let band = all().map(|point| (point.mean - std(point), point.mean + std(point)));
        let line = Series::line(*title, points).style(Style::LinePoints).band(band);
        panel = panel.series(line.color(at));
        let from =
            before.last().map_or_else(String::new, |point| format!("{} to ", short(point.mean)));
        gains.push(format!("{title} {from}{}", short(last.mean)));
    }
    let gains = gains.join(", ");
    (!gains.is_empty()).then(|| {
        Figure::new(id, "Learning curve")
            .caption(format!(
                "The {metric} on the test rows of the first repeat (up) of fits to a part of the training rows (across); \
                 bands are a standard deviation over its splits. A curve that still climbs or falls at its end asks for more \
                 rows. From half of the rows to all: {gains}."
            ))
            .alternative(format!("The {metric} from half of the training rows to all: {gains}."))
            .compact()
            .panel(panel)
    })
}

/// The most important columns, a bar a method.
fn importances(
    methods: &[(&str, &Evaluation)],
    comparison: &Comparison,
    id: String,
) -> Option<Figure> {
    let metric = comparison.metric.name();
    let first = methods.iter().find_map(|(_, own)| own.importance.as_ref())?;
    let shown: Vec<&str> = first.iter().take(ACROSS).map(|own| own.column.as_str()).collect();
    let mut panel =
        Panel::new(Axis::names("", shown.clone()), Axis::linear(format!("loss of {metric}")));
    let mut tops = Vec::new();
    for (at, (title, evaluation)) in methods.iter().enumerate() {
        let Some(found) = &evaluation.importance else { continue };
        let of = |name: &&str| found.iter().find(|own| own.column == **name);
        let all = || shown.iter().enumerate().filter_map(|(at, name)| Some((at as f64, of(name)?)));
        let points = all().map(|(at, own)| (at, own.mean));
        let band = all().map(|(_, own)| own.interval.unwrap_or((own.mean, own.mean)));
        panel = panel.series(Series::bars(*title, points).band(band).color(at));
        tops.extend(found.first().map(|own| format!("{title} {} {}", own.column, short(own.mean))));
    }
    let tops = tops.join(", ");
    let only = if first.len() > shown.len() {
        format!(" The {ACROSS} most important of {} columns are shown.", first.len())
    } else {
        String::new()
    };
    Some(
        Figure::new(id, "Importance of the columns")
            .caption(format!(
                "How much worse {metric} gets where a column's entries change places among the test rows, with 95 % \
                 intervals over the splits (corrected resampled t). Columns that say the same share what they are \
                 worth.{only} Largest: {tops}."
            ))
            .alternative(format!("Loss of {metric} without the most important column: {tops}."))
            .compact()
            .panel(panel),
    )
}

/// The average prediction against the columns that matter most to the first method.
fn dependences(methods: &[(&str, &Evaluation)], id: String) -> Option<Figure> {
    let first = methods.iter().find_map(|(_, own)| own.dependence.as_ref())?;
    let sure = methods.iter().all(|(_, own)| own.said.shares.is_some());
    let what = match first.first()?.class.as_deref() {
        Some(class) if sure => format!("probability of {class}"),
        Some(class) => format!("share predicted {class}"),
        None => "prediction".to_owned(),
    };
    let mut figure = Figure::new(id, "How the prediction depends on a column").compact();
    let mut ranges = Vec::new();
    // Of one scale, so that a steep panel is one that matters.
    let said = || {
        let all = methods.iter().flat_map(|(_, own)| own.dependence.iter().flatten());
        all.flat_map(|own| &own.points).map(|point| point.1).filter(|mean| mean.is_finite())
    };
    let (low, high) =
        (said().fold(f64::INFINITY, f64::min), said().fold(f64::NEG_INFINITY, f64::max));
    let margin = 0.05 * (high - low);
    for dependence in first.iter().take(DEPENDENCES) {
        let name = dependence.column.as_str();
        let levels = &dependence.levels;
        let numbers = levels.is_empty();
        let across =
            if numbers { Axis::linear(name) } else { Axis::names(name, levels.iter().cloned()) };
        let style = if numbers { Style::LinePoints } else { Style::Points };
        let mut up = Axis::linear(what.as_str());
        if margin > 0.0 && margin.is_finite() {
            up = up.range(low - margin, high + margin);
        }
        let mut panel = Panel::new(across, up);
        for (at, (title, own)) in methods.iter().enumerate() {
            let found = own.dependence.iter().flatten().find(|other| other.column == name);
            let Some(found) = found else { continue };
            // Every method is shown at the categories of the first one.
            let place = |level: &String| levels.iter().position(|own| own == level);
            let points = found.points.iter().enumerate().filter_map(|(point, &(x, y))| {
                Some((if numbers { x } else { place(found.levels.get(point)?)? as f64 }, y))
            });
            let line = Series::line(*title, points.collect::<Vec<_>>()).style(style);
            panel = panel.series(line.color(at));
        }
        figure = figure.panel(panel);
        let values = || dependence.points.iter().map(|point| point.1);
        let (least, most) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        ranges.push(format!("{name} between {} and {}", short(least), short(most)));
    }
    let ranges = ranges.join(", ");
    Some(
        figure
            .caption(format!(
                "A column is set to one value (across) in the test rows of the first split, and the other columns stay as they \
                 are. Up: the mean {what}. Points stand at quantiles of numbers, or at categories, the eight most frequent at most. The most \
                 important column to {} comes first: {ranges}.",
                methods[0].0
            ))
            .alternative(format!("The mean {what}: {ranges}.")),
    )
}

/// A number of any size in three digits or so.
fn short(value: f64) -> String {
    if value == 0.0 || (1e-2..1e5).contains(&value.abs()) {
        number(value, if value.abs() < 10.0 { 3 } else { 1 })
    } else {
        format!("{value:.2e}")
    }
}

/// Truth minus prediction against prediction, a panel a method.
fn residuals(methods: &[(&str, &Evaluation)], id: String) -> Figure {
    let most = (POINTS / methods.len()).max(100);
    let mut figure = Figure::new(id, "Residuals").compact().legend(Legend::Hidden);
    let mut halves = Vec::new();
    let mut rows = 0;
    for (title, evaluation) in methods {
        let said = &evaluation.said;
        let (Predictions::Real(values), Truths::Values(truth)) = (&said.predictions, &said.truths)
        else {
            continue;
        };
        let all: Vec<(f64, f64)> = values.iter().zip(truth).map(|(f, y)| (*f, y - f)).collect();
        let mut sorted: Vec<f64> = all.iter().map(|point| point.1).collect();
        sorted.sort_by(f64::total_cmp);
        let quarter = |part: usize| sorted[(sorted.len() - 1) * part / 4];
        halves.push(format!("{title} from {} to {}", short(quarter(1)), short(quarter(3))));
        let stride = all.len().div_ceil(most);
        let points: Vec<(f64, f64)> = all.into_iter().step_by(stride).collect();
        rows = points.len();
        let panel = Panel::new(Axis::linear("prediction"), Axis::linear("truth - prediction"))
            .title(*title)
            .series(Series::points("row", points))
            .mark(Mark::Horizontal { y: 0.0, label: String::new() });
        figure = figure.panel(panel);
    }
    let halves = halves.join(", ");
    figure
        .caption(format!(
            "Truth minus prediction (up) against the prediction (across), {}. A pattern is something that the method \
             misses; a funnel says that errors grow with the target. The middle half of the residuals: {halves}.",
            counted(rows, "row", "rows")
        ))
        .alternative(format!("The middle half of the residuals: {halves}."))
}
