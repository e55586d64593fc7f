use super::{plain, print_json};
use crate::Ended;
use crate::columns::print_words;
use mercer_learning::{counted, one_line};
use mercer_workbench::Coverage;
use std::io::Write;

/// Prints how often the conformal sets of a method hold the truth.
pub(super) fn print(
    found: &Coverage,
    about: &str,
    how: &str,
    as_json: bool,
) -> anyhow::Result<Ended> {
    if as_json {
        print_json(found)?;
        return Ok(Ended::Done);
    }
    let rows = if found.jackknife { "rows left out one by one" } else { "calibration rows" };
    let calibration = counted(found.calibration_rows, "calibration row", rows);
    print_words(&format!("{} on {about}; {how}; {calibration} in the first", found.method))?;
    let mut stdout = std::io::stdout();
    writeln!(stdout)?;
    let (low, high) = found.interval;
    let each = if found.each_class { " of each class" } else { "" };
    writeln!(stdout, "covered     {:.3}, asked for {}{each}", found.covered, found.wanted)?;
    writeln!(stdout, "95 %        {low:.3} to {high:.3}, of {} test rows", found.rows)?;
    match &found.worst_class {
        None => writeln!(stdout, "mean width  {}", plain(found.size))?,
        Some((class, share, rows)) => {
            writeln!(stdout, "mean size   {:.2} classes", found.size)?;
            let rows = counted(*rows as usize, "time", "times");
            writeln!(stdout, "worst class {share:.3}, `{}`, tested {rows}", one_line(class))?;
        }
    }
    Ok(Ended::Done)
}
