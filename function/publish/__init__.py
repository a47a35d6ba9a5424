"""What Modelplane publishes: XRDs, Compositions, RBAC, admission policies and the API reference, from the models."""
