"""Modelplane: a control plane for serving AI models on fleets of GPU clusters, as one composition function."""
