"""Which callers a service knows: as they published themselves, within bounds, and never by their keys' values."""

from __future__ import annotations

from typing import Any

import pytest

from function import registry
from function.core import Manifest, Request, Result, dig
from function.kinds.modelservice import admitted, proxy
from function.sandbox.settle import resolve, settle
from function.vocabulary import settings
from tests.support import services as s


def service(**callers: Any) -> dict[str, Any]:
    made = s.service({"provider": "outside"})
    made["spec"]["callers"] = callers
    return made


def endpoint() -> dict[str, Any]:
    made = s.endpoint("backup", provider="outside")
    made["status"]["routing"]["upstream"] = {"host": "192.0.2.9", "port": 80, "addressType": "IPv4", "tls": False}
    return made


def caller(name: str, *keys: str, namespace: str = s.NAMESPACE, **more: Any) -> dict[str, Any]:
    """A caller that has published keys, each as secret/key."""
    pairs = [key.split("/") for key in keys]
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelCaller",
        "metadata": {"name": name, "namespace": namespace, **more.pop("metadata", {})},
        "spec": {},
        "status": {"keys": [{"secretName": secret, "key": key} for secret, key in pairs], **more},
    }


def composed(xr: Manifest, *found: Manifest, observed: dict[str, Manifest] | None = None) -> Result:
    return settle(registry.compose, Request(xr=xr, observed=observed or {}), [s.GATEWAY, endpoint(), *found])


def known(result: Result) -> dict[str, str]:
    """The caller of each key."""
    return admitted.record(result.resources[proxy.CONFIG].manifest)


def mounted(result: Result) -> set[tuple[str, bool]]:
    """The Secrets of the pods, and whether a pod starts without each."""
    volumes = dig(result.resources[proxy.PODS].manifest, "spec", "template", "spec", "volumes")
    return {(one["secret"]["secretName"], one["secret"].get("optional", False)) for one in volumes if "secret" in one}


def test_callers_are_mounted_and_known() -> None:
    result = composed(service(), caller("alice", "one/a", "two/b"), caller("bob", "one/c"))
    assert known(result) == {"one/a": "alice", "two/b": "alice", "one/c": "bob"}
    assert mounted(result) == {("one", True), ("two", True)}


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(caller("eve", "eve/a", namespace="other-team"), id="another-namespace"),
        pytest.param(caller("eve"), id="no-key"),
        pytest.param(caller("eve", "eve/a", metadata={"deletionTimestamp": "2026-11-29T10:00:00Z"}), id="deleted"),
    ],
)
def test_who_is_no_caller_is_not_known(other: Manifest) -> None:
    result = composed(service(), caller("alice", "one/a"), other)
    assert (known(result), mounted(result)) == ({"one/a": "alice"}, {("one", True)})


def test_a_selector_narrows_the_look_up() -> None:
    selected = caller("alice", "one/a", metadata={"labels": {"team": "search"}})
    result = composed(service(selector={"matchLabels": {"team": "search"}}), selected, caller("bob", "two/b"))
    assert known(result) == {"one/a": "alice"}


def test_without_callers_none_is_looked_up() -> None:
    xr = s.service({"provider": "outside"})
    result = composed(xr, caller("alice", "one/a"))
    assert not [one for one in result.requirements if one.kind == "ModelCaller"]
    assert proxy.CONFIG not in result.resources


def test_until_callers_are_looked_up_nothing_changes() -> None:
    """An answer that is not there yet is no answer."""
    before = composed(service(), caller("alice", "one/a"))
    there = {key: one.manifest for key, one in before.resources.items()}
    request = Request(xr=service(), observed=there)
    asked = registry.compose(request).requirements
    found = {name: one for name, one in resolve(asked, [s.GATEWAY, endpoint()]).items() if name != "callers"}
    held = registry.compose(Request(xr=service(), observed=there, required=found))
    assert {key: one.manifest for key, one in held.resources.items()} == there
    assert any("has not looked up all ModelCallers" in one.message for one in held.conditions)


def test_callers_are_bounded() -> None:
    """Those who can call already stay; the others come by name."""
    first = composed(service(), caller("zoe", "zoe/a"))
    there = {key: one.manifest for key, one in first.resources.items()}
    many = [caller(f"c{number:03}", f"c{number:03}/a") for number in range(admitted.MOST)]
    names = set(known(composed(service(), *many, caller("zoe", "zoe/a"), observed=there)).values())
    assert len(names) == admitted.MOST
    assert names == {"zoe", *(f"c{number:03}" for number in range(admitted.MOST - 1))}


def test_limits_need_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    limited = caller("alice", "one/a", limits=[{"tokens": 5, "per": "Hour"}])

    def clusters() -> str:
        text: str = composed(service(), limited).resources[proxy.CONFIG].manifest["data"]["clusters.json"]
        return text

    assert "rate-limit" not in clusters()
    monkeypatch.setattr(settings, "RATELIMIT", "ratelimit.infra.svc:8081")
    assert '"address":"ratelimit.infra.svc"' in clusters()
