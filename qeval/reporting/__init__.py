"""Reports: each module renders a `qeval.compare.report.Report` in one form and decides nothing."""
