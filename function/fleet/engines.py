"""The nodes that a replica's spec takes, as the scheduler counts them."""

from __future__ import annotations

from typing import Any

from function.core import Manifest, dig
from function.fleet.clusters import mappings, whole
from function.scheduling import PlacedEngine, PlacedMember


def engines(value: Any) -> tuple[PlacedEngine, ...]:
    """Of spec.engines of a ModelReplica, by name."""
    return tuple(sorted(map(_engine, mappings(value)), key=lambda engine: engine.name))


def _engine(engine: Manifest) -> PlacedEngine:
    members = sorted(map(_member, mappings(engine.get("members"))), key=lambda m: m.role)
    return PlacedEngine(str(engine.get("name") or ""), max(1, whole(engine.get("copies"), default=1)), tuple(members))


def _member(member: Manifest) -> PlacedMember:
    role, pool = str(member.get("role") or "Standalone"), str(member.get("nodePoolName") or "")
    return PlacedMember(role, _pods(member), pool, bool(member.get("deviceRequests")))


def _pods(member: Manifest) -> int:
    return max(1, whole(dig(member, "worker", "nodes"), default=1)) if member.get("role") == "Worker" else 1
