"""Conversion of other manifests to ModelDeployments: `modelplane convert`."""
