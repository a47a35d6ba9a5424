"""Composes a ModelEndpoint."""
