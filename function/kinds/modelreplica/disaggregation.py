"""PrefillDecode: one engine prefills, another decodes, and a picker sends each request to a pair of pods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from function.core import NamespacedName
from function.kinds.modelreplica import flags
from function.kinds.modelreplica.engine import EnginePlan
from function.manifests import picker, pods
from function.manifests.metadata import Named
from function.vocabulary import labels, names

SIDE_CHANNEL_PORT = 5557
"""Port of the handshake between NIXL peers, as in llm-d's guides."""
ASSUMED_BLOCK_SIZE = 16
"""Tokens of a KV block if neither options nor image tell."""
_CONNECTORS = {flags.SGLANG: "sglang"}
_READS_NO_PROMPT = (flags.SGLANG,)
"""Engines that refuse to decode a request without a prefill pod (sglang 0.5.23: the request has no bootstrap room)."""
_NIXL = "nixlv2"
"""The sidecar's protocol for transferring KV caches, for all other engines (llm-d router v0.9)."""


def pod_labels(plan: EnginePlan) -> dict[str, str]:
    """Return the labels by which the picker tells the phases apart and finds the metrics' names."""
    if plan.engine.phase is None:
        return {}
    return {
        labels.LLMD_ROLE: plan.engine.phase.lower(),
        **({labels.LLMD_ENGINE_TYPE: plan.type} if plan.type else {}),
    }


def env(plan: EnginePlan) -> Iterable[dict[str, Any]]:
    """Return the address of NIXL's side channel, whose default no other pod can reach. SGLang has none."""
    if plan.engine.phase is None or plan.type == flags.SGLANG:
        return
    yield pods.env_from("VLLM_NIXL_SIDE_CHANNEL_HOST", pods.POD_IP)
    yield pods.env("VLLM_NIXL_SIDE_CHANNEL_PORT", str(SIDE_CHANNEL_PORT))


def sidecar(plan: EnginePlan) -> dict[str, Any]:
    connector = _CONNECTORS.get(plan.type or "", _NIXL)
    return picker.sidecar(port=plan.front, engine_port=plan.port, connector=connector)


def picker_parts(
    replica: NamespacedName, plans: Sequence[EnginePlan], *, pool: str, owned: dict[str, str]
) -> dict[str, dict[str, Any]]:
    """Return the picker's manifests, by the last part of their keys. `plans` must have the decode engine first."""
    name = names.part(replica, "picker")
    where: Named = {"name": name, "namespace": replica.namespace, "labels": owned}
    config = picker.config(block_size=block_size(plans), splits_all=plans[0].type in _READS_NO_PROMPT)
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
    told = (flags.block_size(plan.line) for plan in plans)
    known = (flags.default_block_size(plan.line) for plan in plans)
    return next(filter(None, (*told, *known)), ASSUMED_BLOCK_SIZE)


def assumptions(plans: Sequence[EnginePlan]) -> str:
    """Return what neither options nor image tell, for the condition's message."""
    said = []
    if not any(flags.block_size(plan.line) for plan in plans):
        known = (f"{plan.type}'s default" for plan in plans if flags.default_block_size(plan.line))
        whose = next(known, "the engine's default is not known")
        size = block_size(plans)
        said.append(f"KV blocks of {size} tokens ({whose}): --block-size or --page-size would tell")
    unconnected = sorted({plan.type or "an unknown engine" for plan in plans} - {flags.VLLM, flags.SGLANG})
    if unconnected:
        said.append(f"that {unconnected[0]} hands KV caches over as vLLM does ({_NIXL})")
    return f"; assumed: {', and '.join(said)}" if said else ""
