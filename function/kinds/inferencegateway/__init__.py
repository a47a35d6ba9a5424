"""Composes an InferenceGateway."""
