//! Records to tables, figures and the HTML report.
