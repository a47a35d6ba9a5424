"""Composes a ModelReplica."""
