"""Models: the embedded one, how a name becomes weights on disk, and which weights exactly they are."""
