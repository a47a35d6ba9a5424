"""Model weights, staged once on every cluster that serves from them."""
