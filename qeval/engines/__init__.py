"""Engines: what answers cases. Each file is one engine; `base` holds the shape they share."""
