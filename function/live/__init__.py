"""A live fleet, read from the API server of its control cluster by GET and LIST only."""
