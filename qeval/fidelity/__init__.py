"""Token-level distance of a variant to the baseline, from stored hidden states; needs a model."""
