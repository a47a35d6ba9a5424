"""Everything generated from the models: XRDs, Compositions, RBAC, admission policies and the API reference."""
