"""From records to a report: pairs, slices, statistics, policy, verdicts, decision. Pure; never loads torch."""
