"""Composes a ModelCache."""
