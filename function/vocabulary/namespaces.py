"""Namespaces that other software chooses, each written once."""

UNSTATED = "your-namespace"
"""Stands for the namespace of an object in a file that names none: kubectl would take it from the user's context."""
KUBERNETES = ("default", "kube-*")
"""The namespace that every cluster has, and the prefix that Kubernetes keeps for itself (kubernetes.io, Namespaces)."""
CROSSPLANE = "crossplane-system"
"""Where Crossplane's documentation installs it (docs.crossplane.io, get-started/install)."""
