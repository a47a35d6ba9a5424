"""What the pods of a member request: the user's containers, and those that Modelplane adds.

It adds one, the routing sidecar of pods that decode (kinds/modelreplica/pods.py). The deployment that asks for room and
the reader of replicas that have it both count here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function import podspec
from function.manifests import picker
from function.scheduling import Resources

_DECODE = "Decode"
_SIDECAR: Mapping[str, Any] = {"restartPolicy": "Always", "resources": {"requests": picker.SIDECAR_REQUESTS}}


def requested(spec: Mapping[str, Any], *, phase: Any, serves: bool) -> Resources:
    """Return what a pod requests of which the user wrote `spec`.

    `phase` is that of its engine. `serves` says whether the pod takes requests: the workers of a gang seldom do.
    """
    if phase != _DECODE or not serves:
        return podspec.requested(spec)
    init = spec.get("initContainers")
    return podspec.requested({**spec, "initContainers": [_SIDECAR, *(init if isinstance(init, list | tuple) else ())]})
