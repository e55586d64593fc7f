//! Dates of numbered days.

/// Returns the date so many days after 1970-01-01 as `2026-11-20`, by eras of 400 years that begin in March.
///
/// ```
/// use mercer_datasets::iso_day;
/// assert_eq!([0, 11_016, -1].map(iso_day), ["1970-01-01", "2000-02-29", "1969-12-31"]);
/// ```
pub fn iso_day(days: i64) -> String {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", 400 * era + year + later)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_the_dates_of_the_calendar() {
        for (days, date) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (789, "1972-02-29"),
            (11_016, "2000-02-29"),
            (20_513, "2026-03-01"),
            (20_777, "2026-11-20"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
            (-25_567, "1900-01-01"),
        ] {
            assert_eq!(iso_day(days), date);
        }
    }
}
