"""PrefillDecode: one engine prefills, another decodes, and a picker sends each request to a pair of pods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from function.core import NamespacedName
from function.engines import blocks, connectors
from function.engines.table import SGLANG
from function.kinds.modelreplica import variables
from function.kinds.modelreplica.engine import EnginePlan
from function.manifests import picker, pods
from function.manifests.metadata import Named
from function.vocabulary import labels, names

SIDE_CHANNEL_PORT = 5557
"""Port of the handshake between NIXL peers, as in llm-d's guides."""
ASSUMED_BLOCK_SIZE = 16
"""Tokens of a KV block if neither options nor image tell."""
_READS_NO_PROMPT = (SGLANG,)
"""Engines that refuse to decode a request without a prefill pod (sglang 0.5.23: the request has no bootstrap room)."""


def pod_labels(plan: EnginePlan) -> dict[str, str]:
    """Return the labels by which the picker tells the phases apart and finds the metrics' names."""
    if plan.engine.phase is None:
        return {}
    type_ = plan.reading.engine.llmd_type if plan.reading.engine else ""
    return {
        labels.LLMD_ROLE: plan.engine.phase.lower(),
        **({labels.LLMD_ENGINE_TYPE: type_} if type_ else {}),
    }


def env(plan: EnginePlan) -> Iterable[dict[str, Any]]:
    """Return the address of NIXL's side channel, whose default no other pod can reach. Other connectors have none."""
    if plan.handover is None or plan.handover.connector.protocol != connectors.NIXL:
        return
    yield pods.env_from(variables.SIDE_CHANNEL_HOST.name, pods.POD_IP)
    yield pods.env(variables.SIDE_CHANNEL_PORT.name, str(SIDE_CHANNEL_PORT))


def sidecar(plan: EnginePlan) -> dict[str, Any]:
    assert plan.handover, "only PrefillDecode has a sidecar"
    port = plan.handover.bootstrap_port
    return picker.sidecar(
        port=plan.front,
        engine_port=plan.port,
        connector=plan.handover.connector.protocol,
        bootstrap_port=None if port == connectors.BOOTSTRAP else port,
    )


def picker_parts(
    replica: NamespacedName, plans: Sequence[EnginePlan], *, pool: str, owned: dict[str, str]
) -> dict[str, dict[str, Any]]:
    """Return the picker's manifests, by the last part of their keys. `plans` must have the decode engine first."""
    name = names.part(replica, "picker")
    where: Named = {"name": name, "namespace": replica.namespace, "labels": owned}
    config = picker.config(block_size=block_size(plans), splits_all=plans[0].reading.engine in _READS_NO_PROMPT)
    return {
        "picker-account": picker.service_account(**where),
        "picker-role": picker.role(**where),
        "picker-binding": picker.role_binding(**where),
        "picker-config": picker.config_map(**where, config=config),
        "picker": picker.deployment(**where, pool=pool, config_hash=names.content_hash(config)),
        "picker-service": picker.service(**where),
    }


def block_size(plans: Sequence[EnginePlan]) -> int:
    """Return the tokens of a KV block: from the engines' options, else their default, else ASSUMED_BLOCK_SIZE."""
    told = (blocks.told(plan.reading) for plan in plans)
    known = (blocks.default(plan.reading) for plan in plans)
    return next(filter(None, (*told, *known)), ASSUMED_BLOCK_SIZE)


def remarks(plans: Sequence[EnginePlan]) -> Iterator[str]:
    """Yield how KV caches are handed over, and what neither options nor image tell."""
    handover = plans[0].handover
    assert handover, "only PrefillDecode has a handover"
    connector = handover.connector
    assumed = [] if any(blocks.told(plan.reading) for plan in plans) else [_assumed_block_size(plans)]
    if connector.told:
        port = f" with bootstrap port {handover.bootstrap_port}" if handover.bootstrap_port else ""
        yield f"KV caches are handed over by {connector.protocol}{port}, because of {connector.told}"
    else:
        why = connector.doubt or "no option tells, such as --kv-transfer-config"
        assumed.append(f"that KV caches are handed over by {connector.protocol} ({why})")
    if assumed:
        yield f"assumed: {', and '.join(assumed)}"


def _assumed_block_size(plans: Sequence[EnginePlan]) -> str:
    engines = (plan.reading.engine for plan in plans if blocks.default(plan.reading))
    whose = next((f"{engine.name}'s default" for engine in engines if engine), "the engine's default is not known")
    return f"KV blocks of {block_size(plans)} tokens ({whose}): --block-size or --page-size would tell"
