"""Declarations of an environment: types, overloads with their implementations and prices, libraries."""
