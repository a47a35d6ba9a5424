"""Deterministic simulation: random edits, faults and orders of reconciles, checked against invariants."""
