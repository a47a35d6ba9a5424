"""Trees to programs."""
