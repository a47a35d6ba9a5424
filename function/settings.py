"""What whoever runs the function may set by environment variables, read once at start."""

from __future__ import annotations

import os

from function import versions

HYDRATE_IMAGE = os.environ.get("MODELPLANE_HYDRATE_IMAGE") or versions.HYDRATE_IMAGE
"""The image whose `modelplane hydrate` stages weights: a mirror of ours, say."""
EGRESS_IMAGE = os.environ.get("MODELPLANE_EGRESS_IMAGE") or versions.ENVOY_IMAGE
"""The Envoy that talks to outside providers: a mirror of the stock image, say."""
HUB_ENDPOINT = os.environ.get("MODELPLANE_HUB_ENDPOINT") or ""
"""A mirror of the Hugging Face hub for every hydration; empty for the hub itself."""
