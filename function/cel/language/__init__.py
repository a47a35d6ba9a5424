"""The CEL language: syntax, static check, cost estimate, compiler and evaluation. It knows no library of functions."""
