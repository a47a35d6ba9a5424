"""What an expression may cost, and what an evaluation has cost."""
