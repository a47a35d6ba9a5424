"""Every attack of the table, on a fleet of two tenants: nothing of others changes, and nothing of others is reached."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from function.planning.control_plane import ControlPlane
from tests.tenancy import fleet, laws
from tests.tenancy.attack import HARMLESS
from tests.tenancy.table import ATTACKS

WRITTEN = tuple(manifest for attack in ATTACKS for manifest in attack.objects)


@dataclass(frozen=True, slots=True)
class Attacked:
    """A fleet at rest, after all attacks."""

    control: ControlPlane
    refused: dict[str, str]
    """What the API server said, by object."""
    before: dict[str, Any]
    """What was there of others before."""


@pytest.fixture(scope="module")
def attacked() -> Attacked:
    control, _ = fleet.world(fleet.PLATFORM, fleet.VICTIMS)
    before = laws.others(control)
    return Attacked(control, fleet.add(control, WRITTEN), before)


def test_the_victim_has_something_to_lose(attacked: Attacked) -> None:
    """A law about objects that do not serve would hold of anything."""
    conditions = {
        name: one["status"]["conditions"][-1]
        for name, one in attacked.before.items()
        if name.startswith("Model") and fleet.VICTIM in name
    }
    assert {name: (c["type"], c["status"]) for name, c in conditions.items()} == dict.fromkeys(
        conditions, ("Ready", "True")
    )
    assert Counter(name.partition(" ")[0] for name in conditions) >= Counter(
        {"ModelReplica": 1, "ModelService": 2, "ModelEndpoint": 2, "ModelCaller": 1, "ModelCache": 1}
    )


def test_no_object_is_of_two_attacks() -> None:
    """One would hide what becomes of the other."""
    assert [name for name, times in Counter(map(fleet.key, WRITTEN)).items() if times > 1] == []


def test_what_others_have_stays_byte_for_byte(attacked: Attacked) -> None:
    """Their objects, routes and statuses. Nothing is created beside them, and nothing is deleted."""
    assert laws.others(attacked.control) == attacked.before


def test_nothing_of_the_attackers_has_anything_of_others(attacked: Attacked) -> None:
    """No composed object and no status names their namespaces and objects, or has a value of their Secrets."""
    assert laws.reached(attacked.control, ATTACKS) == []


def test_each_attack_is_refused_by_its_field_or_accepted(attacked: Attacked) -> None:
    assert dict(laws.answers(attacked.control, attacked.refused, ATTACKS)) == {}


@pytest.mark.slow
def test_the_function_alone_refuses_what_the_api_server_lets_through() -> None:
    """Definitions of an earlier version may accept more. A field that the API server drops may be refused as well."""
    control, _ = fleet.world(fleet.PLATFORM, fleet.VICTIMS, admitting=False)
    before = laws.others(control)
    refused = fleet.add(control, WRITTEN)

    assert laws.others(control) == before
    assert laws.reached(control, ATTACKS) == []
    assert dict(laws.answers(control, refused, (attack for attack in ATTACKS if attack.refused != HARMLESS))) == {}


@pytest.mark.slow
def test_a_tenant_that_comes_after_the_attacker_gets_the_same() -> None:
    """Names and places that the attacker took first are not the victim's."""
    alone, _ = fleet.world(fleet.PLATFORM, fleet.VICTIMS)
    control, _ = fleet.world(fleet.PLATFORM, WRITTEN, fleet.VICTIMS)

    assert laws.without_uids(laws.others(control)) == laws.without_uids(laws.others(alone))
    assert laws.reached(control, ATTACKS) == []
