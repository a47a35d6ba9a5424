"""What a node offers: its devices, and how to make such nodes."""
