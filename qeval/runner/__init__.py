"""From a plan to records: one fresh process a variant, outcomes appended as they come, resumable at any moment."""
