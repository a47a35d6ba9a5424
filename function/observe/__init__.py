"""Observing inference clusters: what their nodes really have, who holds it, and why pods do not run."""
