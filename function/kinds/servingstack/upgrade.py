"""Upgrades of charts whose CRDs Helm installs once and never updates: the new CRDs are applied first.

The Objects of the CRDs are composed only until the Release has its new version. They delete nothing on the cluster, so
that they can be withdrawn afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.core import Request, dig_text
from function.kinds.servingstack.components import Release
from function.manifests import definitions


def pending(request: Request, row: Release, wanted: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the CRDs to apply before a Release gets the wanted version, by key; empty where none fit it."""
    before = _version(request, row)
    if row.bundle is None or before in (None, wanted) or wanted != row.chart.version:
        return {}
    crds = definitions.bundle(row.bundle)
    return {f"{row.key}-crd-{name.partition('.')[0]}": crd for name, crd in crds.items()}


def version(request: Request, row: Release, wanted: str) -> str:
    """Return the version to install on this pass: the installed one until the CRDs of the wanted one are ready."""
    missing = [key for key in pending(request, row, wanted) if not request.is_ready(key)]
    before = _version(request, row)
    return before if missing and before else wanted


def _version(request: Request, row: Release) -> str | None:
    """The version of the observed Release; None where there is none: a first install brings the CRDs along."""
    return dig_text(request.observed.get(row.key), "spec", "forProvider", "chart", "version")
