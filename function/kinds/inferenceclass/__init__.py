"""Composes an InferenceClass."""
