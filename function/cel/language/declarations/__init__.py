"""What an environment declares: types, overloads with their implementations and prices, libraries."""
