"""Composes an InferenceCluster."""
