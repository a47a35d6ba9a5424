"""Plans of a fleet: the control plane in the sandbox, with simulated clusters, before and after a change."""
