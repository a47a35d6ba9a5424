"""Composes a ModelService."""
