"""Tells why the pods of a replica wait or fail, on clusters whose nodes are observed.

The observer on the cluster reports it for a namespace at once, in a ConfigMap. A replica that is not ready brings the
report back by an Object that only observes, and lets go of it once it is ready. Several replicas observe the same
ConfigMap, so each names its Object after itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from function.core import Manifest, NamespacedName
from function.fleet import pod_reasons
from function.kinds.modelreplica.readiness import ObjectState
from function.manifests import provider
from function.vocabulary import names, versions

KEY = "pod-reasons"
"""Key of the Object among the composed resources."""


def object_(replica: NamespacedName, cluster: str, provider_config: str, owned: Mapping[str, str]) -> dict[str, Any]:
    """Return the Object that brings back the report."""
    return provider.object_(
        name=names.derived(f"{replica.name}-pod-reasons", "ModelReplica", *replica, cluster, KEY),
        namespace=replica.namespace,
        provider_config=provider_config,
        manifest={
            "apiVersion": versions.CORE,
            "kind": "ConfigMap",
            "metadata": {"name": names.pod_reasons(replica.namespace), "namespace": names.SYSTEM_NAMESPACE},
        },
        labels=owned,
        management_policies=provider.OBSERVE,
    )


def with_reasons(states: Sequence[ObjectState], observed: Mapping[str, Manifest]) -> tuple[ObjectState, ...]:
    """Return the states, with what the pods of workloads that are not done wait for."""
    waiting = pod_reasons.read(observed.get(KEY))
    return tuple(
        replace(state, problem="; ".join(filter(None, (state.problem, str(waiting[name])))))
        if state.engine and not state.done and (name := state.written["metadata"]["name"]) in waiting
        else state
        for state in states
    )
