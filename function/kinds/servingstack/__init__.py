"""Composes a ServingStack."""
