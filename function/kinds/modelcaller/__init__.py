"""Composes a ModelCaller."""
