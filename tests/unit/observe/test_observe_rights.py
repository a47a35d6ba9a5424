"""The serving stack gives the observer the rights that it needs, and starts it with options that it has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import pytest

from function.cli.observe import observe
from function.manifests import observer
from function.observe import autoscaler, health, kinds, stored
from function.observe.kinds import Kind
from function.vocabulary import names

READ = {"get", "list", "watch"}
OWN = stored.kind(names.SYSTEM_NAMESPACE)


def group(kind: Kind) -> str:
    """The API group of a kind; empty for the core."""
    parts = kind.path.split("/")
    return "" if parts[1] == "api" else parts[2]


def verbs(role: dict[str, Any], kind: Kind, name: str = "") -> set[str]:
    return {verb for rule in _rules(role, kind) if name in rule.get("resourceNames", [name]) for verb in rule["verbs"]}


def _rules(role: dict[str, Any], kind: Kind) -> Iterator[dict[str, Any]]:
    return (rule for rule in role["rules"] if group(kind) in rule["apiGroups"] and kind.plural in rule["resources"])


@pytest.mark.parametrize("kind", [*kinds.CAPACITY, *kinds.OWNERS, *kinds.EVENTS], ids=lambda kind: kind.path)
def test_it_may_read_what_it_follows(kind: Kind) -> None:
    assert verbs(observer.cluster_role(), kind) == READ


def test_it_may_read_the_autoscalers_status_and_no_other_config_map_there() -> None:
    role = observer.autoscaler_role()

    assert verbs(role, kinds.AUTOSCALER, autoscaler.NAME) == READ
    assert verbs(role, kinds.AUTOSCALER, "another") == set()
    assert (role["metadata"]["namespace"], kinds.AUTOSCALER.path) == (
        autoscaler.NAMESPACE, f"/api/v1/namespaces/{autoscaler.NAMESPACE}/configmaps",
    )  # fmt: skip


def test_it_may_write_its_own_config_maps() -> None:
    assert verbs(observer.role(), OWN) >= {*READ, "create", "update"}
    assert observer.role()["metadata"]["namespace"] == names.SYSTEM_NAMESPACE


def test_no_role_has_secrets() -> None:
    roles = (observer.cluster_role(), observer.role(), observer.autoscaler_role())

    assert [
        rule for role in roles for rule in role["rules"] if {"secrets", "*"} & {*rule["resources"], *rule["verbs"]}
    ] == []


def test_its_options_and_probes_are_those_of_the_command() -> None:
    (container,) = observer.deployment("image")["spec"]["template"]["spec"]["containers"]
    command, *options = container["args"]

    given = observe.make_context(command, list(options), resilient_parsing=False)

    assert (container["command"], command, given.params["kubeconfig"]) == (["modelplane"], "observe", None)
    assert isinstance(given, click.Context)
    port = given.params["address"].port
    probes = {container[name]["httpGet"]["path"] for name in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert {container[name]["httpGet"]["port"] for name in ("livenessProbe", "readinessProbe")} == {port}
    assert probes == {health.LIVE, health.READY}
