"""What holds of every cloud, over its golden cases and over clusters that are made in the embedded control plane.

A cloud that is added is covered: the tests take clouds from the table.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

import function
from function.clouds import BY_NAME, ManagedKind, Source
from function.contracts.cloud import composition
from function.core import Manifest, Request, dig, plain
from function.core.manifest import is_list
from function.sandbox.settle import settle
from function.vocabulary import versions
from tests.support import foreign
from tests.support.cases import CASES, answer, load
from tests.support.cloud_edits import (
    ON_CLUSTER,
    SUPPORTED,
    CloudWorld,
    classes,
    credentials,
    fabrics,
    provisioner,
    walked,
    written,
    zones,
)

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
REPOSITORY = Path(function.__file__).parents[1]
"""The tree whose clouds are looked at."""
MOST_POOLS = 8
"""Node pools of an InferenceCluster."""
NOT_MANAGED = {(versions.CORE, "Secret"), (versions.PROTECTION, "Usage")}
BY_BEING_THERE = {("Cluster", "publicEndpoint")}
"""Nebius: a control plane has a public endpoint if the field is there, whatever is in it."""
each_cloud = pytest.mark.parametrize("source", SUPPORTED, ids=lambda source: source.name)


# What there is to look at


def cases_of(source: Source) -> list[Path]:
    return [case for case in CASES if case.parent.name == provisioner(source).model.KIND.lower()]


def pools_of(source: Source) -> dict[str, list[dict[str, Any]]]:
    """Sets of pools by what they show."""
    first, last = (classes(source)[i]["metadata"]["name"] for i in (0, -1))
    taints = [
        {"key": "team", "value": "a", "effect": "NoSchedule"},
        {"key": "quiet", "value": "b", "effect": "NoExecute"},
    ]
    zoned = (
        [{"name": "zoned", "className": first, "zones": list(zones(source)[:2]), "nodeCount": 2}]
        if source.zones
        else []
    )
    found = {
        "one": [{"name": "a", "className": first}],
        "sizes": [
            {"name": "fixed", "className": first, "nodeCount": 3},
            {"name": "scaled", "className": first, "nodeCount": 9, "minNodeCount": 2, "maxNodeCount": 4},
            {"name": "minimal", "className": last, "nodeCount": 0, "maxNodeCount": 5},
        ],
        "taints": [{"name": "a", "className": last, "taints": taints}, *zoned],
        "many": [{"name": f"pool-{i}", "className": first} for i in range(MOST_POOLS)],
    }
    for type_ in sorted(source.fabrics):
        fabric = fabrics(source, type_)
        found[type_] = [{"name": "a", "className": classes(source, fabric)[0]["metadata"]["name"], **fabric}]
    return {name: [_short(source, pool) for pool in pools] for name, pools in found.items()}


def _short(source: Source, pool: dict[str, Any]) -> dict[str, Any]:
    """Azure takes names of letters and digits only."""
    return {**pool, "name": pool["name"].replace("-", "")} if source.name == "AKS" else pool


def worlds(source: Source) -> Mapping[str, CloudWorld]:
    return _worlds(source.name)


@cache
def _worlds(name: str) -> Mapping[str, CloudWorld]:
    source = BY_NAME[name]
    return {name: CloudWorld.of(source, pools) for name, pools in pools_of(source).items()}


def composed(source: Source) -> Iterator[tuple[str, Mapping[str, Manifest], bool]]:
    """Each set of composed resources by key, with what made it, and whether it is complete."""
    yield from _of_worlds(source.name)
    for case in cases_of(source):
        result = answer(case)
        resources = {key: resource.manifest for key, resource in result.resources.items()}
        yield case.name, resources, result.ready and resources.keys() >= load(case)[0].observed.keys()


@cache
def _of_worlds(name: str) -> tuple[tuple[str, Mapping[str, Manifest], bool], ...]:
    return tuple((shown, world.composed(), True) for shown, world in _worlds(name).items())


def kind_of(source: Source, manifest: Manifest) -> ManagedKind | None:
    kinds = {(kind.api_version, kind.kind): kind for kind in provisioner(source).managed}
    return kinds.get((manifest["apiVersion"], manifest["kind"]))


def managed_of(source: Source) -> Iterator[tuple[str, ManagedKind, dict[str, Any]]]:
    """Every managed resource, with where it is from."""
    for name, resources, _ in composed(source):
        for key, manifest in resources.items():
            kind = kind_of(source, manifest)
            if kind:
                yield f"{name}: {key}", kind, plain(manifest)


def references(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Each reference of a managed resource: its path, and the name that it refers to."""
    for parameters in ("forProvider", "initProvider"):
        for path, value in walked(manifest["spec"].get(parameters) or {}):
            if path[-1].endswith(("Ref", "Refs")):
                yield from ((".".join(path), each["name"]) for each in (value if is_list(value) else [value]))


def led(kind: ManagedKind, path: str) -> str | None:
    """The kind to which the reference at a path leads; None where the cloud does not say."""
    return next((to for field, to in kind.references.items() if f".{path}".endswith(f".{field}")), None)


def schema_of(kind: ManagedKind) -> dict[str, Any]:
    path = foreign.CRDS / f"{kind.api_version.replace('/', '_')}_{kind.kind}.json"
    assert path.exists(), f"there is no schema of {kind.kind} in {path.parent.name}: {path.name}"
    found: dict[str, Any] = json.loads(path.read_text())
    return found


# Kinds


@pytest.mark.slow
@each_cloud
def test_clusters_of_it_are_made_whatever_their_pools_are(source: Source) -> None:
    assert {name: (world.refusal(), world.is_ready()) for name, world in worlds(source).items()} == dict.fromkeys(
        pools_of(source), ("", True)
    )


@pytest.mark.slow
@each_cloud
def test_everything_composed_is_of_a_kind_that_the_cloud_names(source: Source) -> None:
    unknown = {
        (name, key, manifest["kind"])
        for name, resources, _ in composed(source)
        for key, manifest in resources.items()
        if not kind_of(source, manifest)
        and manifest["apiVersion"] not in ON_CLUSTER
        and (manifest["apiVersion"], manifest["kind"]) not in NOT_MANAGED
    }
    assert unknown == set()


@each_cloud
def test_every_kind_that_the_cloud_names_is_in_a_golden_case(source: Source) -> None:
    shown = {
        (resource.manifest["apiVersion"], resource.manifest["kind"])
        for case in cases_of(source)
        for resource in answer(case).resources.values()
    }
    assert [kind.kind for kind in provisioner(source).managed if (kind.api_version, kind.kind) not in shown] == []


@each_cloud
def test_its_kinds_are_named_once_and_as_their_definitions_say(source: Source) -> None:
    kinds = provisioner(source).managed
    assert len({(kind.api_version, kind.kind) for kind in kinds}) == len(kinds)
    for kind in kinds:
        schema = schema_of(kind)
        assert (f"{schema['group']}/{schema['version']}", schema["plural"]) == (kind.api_version, kind.plural)
        assert schema["scope"] == "Namespaced"


@each_cloud
def test_its_kinds_are_activated_and_may_be_written(source: Source) -> None:
    kinds = {f"{kind.plural}.{kind.api_version.partition('/')[0]}" for kind in provisioner(source).managed}
    activation = yaml.safe_load((REPOSITORY / "package/configuration/activation.yaml").read_text())
    role = yaml.safe_load((REPOSITORY / "package/rbac.yaml").read_text())
    writable = {
        f"{resource}.{group}"
        for rule in role["rules"]
        if {"create", "delete", "patch"} <= {*rule["verbs"]}
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    assert (kinds - {*activation["spec"]["activate"]}, kinds - writable) == (set(), set())


def test_nothing_else_is_activated() -> None:
    activation = yaml.safe_load((REPOSITORY / "package/configuration/activation.yaml").read_text())["spec"]["activate"]
    kinds = {
        f"{kind.plural}.{kind.api_version.partition('/')[0]}"
        for source in SUPPORTED
        for kind in provisioner(source).managed
    }
    assert Counter(activation) == Counter(
        {*kinds, "objects.kubernetes.m.crossplane.io", "releases.helm.m.crossplane.io"}
    )


# Manifests


@each_cloud
def test_every_managed_resource_passes_its_schema_and_its_rules(source: Source) -> None:
    found = {where: problems for where, _, manifest in managed_of(source) if (problems := foreign.problems(manifest))}
    assert found == {}


@each_cloud
def test_nothing_is_null_or_an_empty_block(source: Source) -> None:
    empty = {
        f"{where}: {'.'.join(path)}"
        for where, kind, manifest in managed_of(source)
        for path, value in walked(manifest["spec"])
        if value is None or (value in ({}, []) and not _is_by_being_there(kind, path))
    }
    assert empty == set()


def _is_by_being_there(kind: ManagedKind, path: tuple[str, ...]) -> bool:
    """Whether a field is an object that says something by being there: it needs no fields of its own."""
    schema = _field(schema_of(kind)["schema"]["properties"]["spec"], path)
    return (kind.kind, path[-1]) in BY_BEING_THERE or bool(schema and not schema.get("properties"))


@each_cloud
def test_names_are_labels_and_no_two_resources_share_one(source: Source) -> None:
    for name, resources, _ in composed(source):
        named = [(m["apiVersion"], m["kind"], m["metadata"]["name"]) for m in resources.values()]
        assert [each for each, count in Counter(named).items() if count > 1] == [], name
        assert [each for each in named if not LABEL.fullmatch(each[2])] == [], name
        assert {m["metadata"].get("namespace") for m in resources.values()} <= {"modelplane-system"}, name


@each_cloud
def test_every_managed_resource_is_made_with_the_rights_of_one_provider_config(source: Source) -> None:
    for name, resources, _ in composed(source):
        configs = {
            json.dumps(plain(m["spec"].get("providerConfigRef")), sort_keys=True)
            for m in resources.values()
            if kind_of(source, m)
        }
        assert len(configs) <= 1, name
        assert "null" not in configs, name


@each_cloud
def test_what_is_only_initial_is_never_completed_by_the_provider(source: Source) -> None:
    policies = {
        where: manifest["spec"].get("managementPolicies", ["*"])
        for where, _, manifest in managed_of(source)
        if manifest["spec"].get("initProvider")
    }
    assert [where for where, given in policies.items() if {"*", "LateInitialize"} & {*given}] == []


@each_cloud
def test_what_is_only_initial_is_a_whole_field(source: Source) -> None:
    """initProvider is only read where forProvider has no value.

    Below an object that both have, Upjet takes it for a value that must stay, and resets what an autoscaler has chosen
    (crossplane-contrib/provider-upjet-aws#1907).
    """
    both = {
        f"{where}: {field}"
        for where, _, manifest in managed_of(source)
        for field in manifest["spec"].get("initProvider", {}).keys() & manifest["spec"]["forProvider"].keys()
    }
    assert both == set()


@each_cloud
def test_what_is_on_the_cluster_is_never_deleted_there(source: Source) -> None:
    """The kubeconfig goes before the cluster, and nothing could be deleted without it."""
    deletes = {
        f"{name}: {key}"
        for name, resources, _ in composed(source)
        for key, manifest in resources.items()
        if manifest["apiVersion"] in ON_CLUSTER
        and {"*", "Delete"} & {*(dig(manifest, "spec", "managementPolicies") or ["*"])}
    }
    assert deletes == set()


# References


@each_cloud
def test_nothing_is_selected(source: Source) -> None:
    selectors = {
        f"{where}: {'.'.join(path)}"
        for where, _, manifest in managed_of(source)
        for parameters in ("forProvider", "initProvider")
        for path, _ in walked(manifest["spec"].get(parameters) or {})
        if path[-1].endswith("Selector")
    }
    assert selectors == set()


@each_cloud
def test_every_reference_names_a_composed_resource_of_the_kind_that_the_cloud_says(source: Source) -> None:
    for name, resources, is_complete in composed(source):
        kinds = {manifest["metadata"]["name"]: manifest["kind"] for manifest in resources.values()}
        for key, manifest in resources.items():
            kind = kind_of(source, manifest)
            for path, to in references(manifest) if kind else ():
                assert kind is not None
                where, wanted = f"{name}: {key}: {path}", led(kind, path)
                assert wanted, f"{where} is not declared"
                assert kinds.get(to, None if is_complete else wanted) == wanted, where


@each_cloud
def test_every_declared_reference_is_a_field_and_leads_to_a_kind_of_the_cloud(source: Source) -> None:
    kinds = {kind.kind for kind in provisioner(source).managed} | {kind for _, kind in NOT_MANAGED}
    for kind in provisioner(source).managed:
        fields = set(_fields(_parameters(kind)))
        missing = [to for to in kind.references if not any(f".{path}".endswith(f".{to}") for path in fields)]
        assert (kind.kind, missing) == (kind.kind, [])
        assert (kind.kind, [to for to in kind.references.values() if to not in kinds]) == (kind.kind, [])


@each_cloud
def test_every_declared_reference_is_used(source: Source) -> None:
    used = {(kind.kind, path) for _, kind, manifest in managed_of(source) for path, _ in references(manifest)}
    unused = [
        (kind.kind, field)
        for kind in provisioner(source).managed
        for field in kind.references
        if not any(of == kind.kind and f".{path}".endswith(f".{field}") for of, path in used)
    ]
    assert unused == []


@each_cloud
def test_what_the_cloud_cannot_change_are_fields_that_are_reached_without_lists(source: Source) -> None:
    """A path through a list is never pinned."""
    missing = {
        f"{kind.kind}: {path}"
        for kind in provisioner(source).managed
        for path in kind.immutable
        if _field(_parameters(kind), path.split(".")) is None
    }
    assert missing == set()


@each_cloud
def test_what_is_referred_to_is_deleted_later(source: Source) -> None:
    """By a Usage for each dependency, or by a chain of them."""
    for name, world in worlds(source).items():
        resources = world.composed()
        of = {(m["kind"], m["metadata"]["name"]): key for key, m in resources.items()}
        needs: dict[str, set[str]] = {key: set() for key in resources}
        for manifest in resources.values():
            if manifest["kind"] == "Usage":
                by, needed = (
                    of[dig(manifest, "spec", end, "kind"), dig(manifest, "spec", end, "resourceRef", "name")]
                    for end in ("by", "of")
                )
                needs[by].add(needed)
        for key, manifest in resources.items():
            kind = kind_of(source, manifest)
            for path, to in references(manifest) if kind else ():
                assert kind is not None
                assert of[str(led(kind, path)), to] in _reached(needs, key), f"{name}: {key} before {to}"


def _reached(needs: Mapping[str, set[str]], key: str) -> set[str]:
    found: set[str] = set()
    waiting = [key]
    while waiting:
        more = needs[waiting.pop()] - found
        found |= more
        waiting.extend(more)
    return found


def _parameters(kind: ManagedKind) -> dict[str, Any]:
    spec = schema_of(kind)["schema"]["properties"]["spec"]["properties"]
    found: dict[str, Any] = spec["forProvider"]
    return found


def _field(schema: Mapping[str, Any], path: Sequence[str]) -> Mapping[str, Any] | None:
    """The schema of a field that is reached without lists; None where there is none."""
    for name in path:
        found = (schema.get("properties") or {}).get(name)
        if found is None:
            return None
        schema = found
    return schema


def _fields(schema: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """The paths of all fields, those in lists among them."""
    for name, child in (schema.get("properties") or {}).items():
        yield f"{path}.{name}".lstrip(".")
        yield from _fields(child, f"{path}.{name}")
    if "items" in schema:
        yield from _fields(schema["items"], path)


# The composite


@each_cloud
def test_its_composite_has_room_for_pools_that_replicas_have_not_left(source: Source) -> None:
    """As many may leave as come."""
    definition = yaml.safe_load((REPOSITORY / f"xrds/{provisioner(source).model.PLURAL}.yaml").read_text())
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    room = (
        schema["spec"]["properties"]["nodePools"]["maxItems"],
        schema["status"]["properties"]["pools"]["maxItems"],
    )
    assert min(room) >= 2 * MOST_POOLS


@each_cloud
def test_a_settled_cluster_changes_no_more(source: Source) -> None:
    for name, world in worlds(source).items():
        again = world.copied()
        again.control.loop.resync()
        again.control.loop.settle()
        assert again.composed() == world.composed(), name


@pytest.mark.slow
@each_cloud
def test_what_is_not_observed_for_a_pass_or_has_lost_its_status_takes_nothing_along(source: Source) -> None:
    """A cache may be late, and a backup brings no status back."""
    world = worlds(source)["one"]
    there = {key: m for key, m in world.composed().items() if m["kind"] != "Usage"}
    want, changed = _asked(world, there), {}
    for key, resource in there.items():
        others = {other: m for other, m in there.items() if other != key}
        stripped = {field: body for field, body in resource.items() if field != "status"}
        for lost, observed in (("itself", others), ("its status", {**others, key: stripped})):
            got = _asked(world, observed)
            changed |= {(key, lost, other): got.get(other) for other in observed if got.get(other) != want[other]}
    assert changed == {}


def _asked(world: CloudWorld, observed: Mapping[str, Manifest]) -> dict[str, dict[str, Any]]:
    """What the composite asks for while some of its resources are observed."""
    composite = world.composite()
    assert composite is not None
    request = Request(xr=plain(composite), observed=observed)
    result = settle(composition.composer(provisioner(world.source)), request, credentials(world.source))
    return {key: written(resource.manifest) for key, resource in result.resources.items()}


@each_cloud
def test_the_same_pools_in_another_order_are_the_same(source: Source) -> None:
    pools = pools_of(source)["many"]
    world = worlds(source)["many"].copied()
    assert world.edit(pools[::-1]) == ""
    assert world.managed() == worlds(source)["many"].managed()


@each_cloud
def test_a_cluster_keeps_its_credentials(source: Source) -> None:
    """In another account the provider would find nothing, and make a cluster that is empty."""
    world, pools = worlds(source)["one"].copied(), pools_of(source)["one"]
    assert world.edit(pools, credentials={"name": "default"}) == ""
    assert "a cluster keeps its credentials" in world.edit(pools, credentials={"name": "other"})
    assert "a cluster keeps its credentials" in world.edit(pools, credentials={"type": "ProviderConfig"})
    assert world.managed() == worlds(source)["one"].managed()


@each_cloud
def test_nothing_is_left_of_a_cluster_that_is_deleted(source: Source) -> None:
    world = worlds(source)["sizes"].copied()
    world.control.store.delete(world.ref)
    world.control.loop.settle()

    kinds = [(kind.api_version, kind.kind) for kind in provisioner(source).managed]
    kinds += [(provisioner(source).model.API_VERSION, provisioner(source).model.KIND), (versions.PROTECTION, "Usage")]
    left = {kind: len(found) for kind in kinds if (found := world.control.store.of_kind(*kind))}
    assert left == {}
