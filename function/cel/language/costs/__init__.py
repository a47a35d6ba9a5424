"""Estimates the cost of an expression, and the sizes that the estimate needs."""
