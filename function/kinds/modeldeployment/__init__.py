"""Composes a ModelDeployment."""
