"""The embedded control plane: the same composers, without a cluster."""
