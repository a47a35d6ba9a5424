"""Namespaces that other software chooses, each written once."""

UNSTATED = "your-namespace"
"""Placeholder for the namespace of an object in a file without one: kubectl would take it from the user's context."""
KUBERNETES = ("default", "kube-*")
"""The namespace that every cluster has, and the prefix that Kubernetes reserves (kubernetes.io, Namespaces)."""
CROSSPLANE = "crossplane-system"
"""Crossplane's namespace according to its documentation (docs.crossplane.io, get-started/install)."""
