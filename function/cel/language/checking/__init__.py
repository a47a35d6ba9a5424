"""Checks a tree before it runs: names, types and overloads."""
