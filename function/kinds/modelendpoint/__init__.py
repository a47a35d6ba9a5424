"""One place where a model answers: a replica of ours, or an outside provider."""
