"""Operator settings, read from the environment at startup."""

from __future__ import annotations

import os

from function.vocabulary import versions


class Invalid(ValueError):
    """A setting cannot be parsed. The message names the variable, its value, and what is accepted."""


HYDRATE_IMAGE = os.environ.get("MODELPLANE_HYDRATE_IMAGE") or versions.HYDRATE_IMAGE
"""The image whose `modelplane hydrate` stages weights, for example a mirror of ours."""
OBSERVER_IMAGE = os.environ.get("MODELPLANE_OBSERVER_IMAGE") or HYDRATE_IMAGE
"""The image whose `modelplane observe` observes inference clusters. By default the one that stages weights."""
EGRESS_IMAGE = os.environ.get("MODELPLANE_EGRESS_IMAGE") or versions.ENVOY_IMAGE
"""The Envoy image of egress proxies, for example a mirror of the stock image."""
HUB_ENDPOINT = os.environ.get("MODELPLANE_HUB_ENDPOINT") or ""
"""A mirror of the Hugging Face hub for all hydrations. Empty means the hub itself."""
RESERVED_NAMESPACES_VARIABLE = "MODELPLANE_RESERVED_NAMESPACES"
RESERVED_NAMESPACES = os.environ.get(RESERVED_NAMESPACES_VARIABLE) or ""
"""Changes of the list of reserved namespaces (api/tenancy.py), such as `+team-infra,-monitoring`; empty for none."""
