"""What expressions can call."""
