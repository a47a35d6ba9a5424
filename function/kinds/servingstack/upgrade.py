"""Upgrades of charts whose CRDs Helm installs once and never touches again: the CRDs go first.

Their Objects are there only while the Release has yet to be given its new version. They never delete what they wrote,
so that dropping them afterwards costs a cluster nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.core import Request, dig
from function.kinds.servingstack.components import Release
from function.manifests import definitions


def pending(request: Request, row: Release, wanted: str) -> Mapping[str, Mapping[str, Any]]:
    """The CRDs to be written before a Release gets its next version, by key; empty where there are none that fit."""
    before = _version(request, row)
    if row.bundle is None or before in (None, wanted) or wanted != row.chart.version:
        return {}
    crds = definitions.bundle(row.bundle)
    return {f"{row.key}-crd-{name.partition('.')[0]}": crd for name, crd in crds.items()}


def version(request: Request, row: Release, wanted: str) -> str:
    """The version to install now: the one that is there until the CRDs of the wanted one are."""
    missing = [key for key in pending(request, row, wanted) if not request.is_ready(key)]
    before = _version(request, row)
    return before if missing and before else wanted


def _version(request: Request, row: Release) -> str | None:
    """What the Release was last given; None where there is none yet, whose first install brings the CRDs along."""
    found: str | None = dig(request.observed.get(row.key), "spec", "forProvider", "chart", "version")
    return found
