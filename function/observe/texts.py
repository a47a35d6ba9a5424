"""Decides what the observer writes: a snapshot and declarations in, ConfigMaps out. Pure, like all that it calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from function.observe import autoscaler, bounds, inventory, observation, reasons, stored
from function.observe.declaration import Declaration
from function.observe.inventory import Snapshot
from function.observe.records import Pod
from function.observe.stored import Stored
from function.vocabulary import labels, names
from function.vocabulary.observation import OBSERVED_KEY, REASONS_KEY


def wanted(
    snapshot: Snapshot, stored_: Iterable[Stored], missing: Iterable[str], namespace: str
) -> list[dict[str, Any]]:
    """The ConfigMaps to write.

    Args:
        snapshot: The records of the cluster.
        stored_: The ConfigMaps that are there.
        missing: Kinds that cannot be read.
        namespace: The observer's own namespace.
    """
    there = sorted(stored_, key=lambda one: one.name)
    owners = [one for one in there if one.declared]
    if not owners:
        return []
    return [
        *_observations(snapshot, owners, sorted(set(missing)), namespace),
        *_reasons(snapshot, owners, there, namespace),
    ]


def _observations(
    snapshot: Snapshot, owners: Sequence[Stored], missing: Sequence[str], namespace: str
) -> Iterator[dict[str, Any]]:
    has = inventory.of(snapshot)
    stock = autoscaler.out_of_stock(snapshot, [pool for one in owners if one.declared for pool in one.declared.pools])
    for owner in owners:
        assert owner.declared is not None
        told = observation.observed(has, owner.declared, stock)
        if missing:
            told["missing"] = list(missing)
        yield stored.config_map(
            name=names.observed(owner.declared.cluster),
            namespace=namespace,
            role=labels.OBSERVED,
            data={OBSERVED_KEY: bounds.text(told)},
            owners=[owner],
        )


def _reasons(
    snapshot: Snapshot, owners: Sequence[Stored], there: Sequence[Stored], namespace: str
) -> Iterator[dict[str, Any]]:
    """Reasons of namespaces where pods wait, or where they have waited."""
    declarations = [one.declared for one in owners if one.declared]
    found = reasons.reasons(snapshot, lambda pod: _may_quote(pod, declarations))
    told_before = {one.space for one in there if one.space}
    for space in sorted({*found, *told_before}):
        told = found.get(space) or reasons.nothing(space)
        if told["workloads"] or space in told_before:
            yield stored.config_map(
                name=names.pod_reasons(space),
                namespace=namespace,
                role=labels.POD_REASONS,
                data={REASONS_KEY: reasons.text(told)},
                owners=owners,
            )


def _may_quote(pod: Pod, declarations: Iterable[Declaration]) -> bool:
    """Whether the texts of a pod's containers may be told: by every cluster that has the pod's pool."""
    having = [one for one in declarations if pod.pool in one.pools]
    return bool(having) and all(one.termination_messages for one in having)
