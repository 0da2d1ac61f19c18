"""From a case to the text and the token ids that a model reads, and the proof that nothing of the case got lost."""
