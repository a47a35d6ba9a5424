"""Values of expressions: their kinds, comparison, arithmetic and spelling."""
