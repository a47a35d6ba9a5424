"""What expressions work with."""
