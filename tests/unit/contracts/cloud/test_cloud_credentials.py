"""Credentials that are missing are named: which, and where."""

from __future__ import annotations

from typing import Any

import pytest

from function.contracts.cloud import credentials
from function.core import NotYet, Request
from function.sandbox.settle import resolve
from tests.support.skycloud import CONFIG, PROVIDER, xr

GROUP = "sky.m.example.org"
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys", "namespace": "creds"}}


def config(kind: str = "ClusterProviderConfig", called: str = "default", **reference: str) -> dict[str, Any]:
    found = {**CONFIG, "kind": kind, "metadata": {"name": called}}
    if kind == "ProviderConfig":
        found["metadata"] = {"name": called, "namespace": "modelplane-system"}
    if reference:
        found["spec"] = {"credentials": {"source": "Secret", "secretRef": reference}}
    return found


def checked(*objects: dict[str, Any], **spec: Any) -> str:
    """What is missing, once all was looked up; empty where nothing is."""
    request = Request(xr=xr(**spec))
    for _ in range(3):
        found = resolve(credentials.requirements(request, PROVIDER), objects)
        request = Request(xr=request.xr, required=found)
    try:
        credentials.check(request, PROVIDER)
    except NotYet as why:
        return why.condition.message
    return ""


NAMED = {"name": "keys", "namespace": "creds", "key": "token"}
CREATE = "create it, with the credentials that make the cluster"
TAKES = f"ClusterProviderConfig default of {GROUP} takes its credentials from it"


@pytest.mark.parametrize(
    ("objects", "want"),
    [
        ([], f"ClusterProviderConfig default of {GROUP} does not exist; {CREATE}"),
        ([config(called="another")], f"ClusterProviderConfig default of {GROUP} does not exist; {CREATE}"),
        ([config()], ""),
        ([config(**NAMED)], f"Secret creds/keys does not exist; {TAKES}"),
        ([config(**NAMED), SECRET], f"Secret creds/keys has no key token; {TAKES}"),
        ([config(**NAMED), {**SECRET, "data": {"other": "YQ=="}}], f"Secret creds/keys has no key token; {TAKES}"),
        ([config(**NAMED), {**SECRET, "data": {"token": "YQ=="}}], ""),
        ([config(**NAMED), {**SECRET, "stringData": {"token": "a"}}], ""),
        ([config(name="keys", namespace="creds"), SECRET], ""),
    ],
    ids=["config", "other-config", "identity", "secret", "empty", "other-key", "there", "plain", "no-key-is-named"],
)
def test_what_is_missing_is_named(objects: list[dict[str, Any]], want: str) -> None:
    assert checked(*objects) == want


def test_a_provider_config_of_a_namespace_is_read_from_ours_and_so_is_its_secret() -> None:
    given = {"credentials": {"type": "ProviderConfig", "name": "ours"}}
    title = f"ProviderConfig ours of {GROUP}"

    assert checked(config(called="ours"), **given) == (
        f"{title} in namespace modelplane-system does not exist; {CREATE}"
    )
    named = config("ProviderConfig", "ours", key="token")
    named["spec"]["credentials"]["secretRef"]["name"] = "keys"
    missing = f"{title} in namespace modelplane-system takes its credentials from it"
    assert checked(named, SECRET, **given) == f"Secret modelplane-system/keys does not exist; {missing}"


def test_what_was_not_looked_up_yet_is_waited_for() -> None:
    request = Request(xr=xr())
    with pytest.raises(NotYet, match=f"Waiting to see ClusterProviderConfig default of {GROUP}"):
        credentials.check(request, PROVIDER)

    found = resolve(credentials.requirements(request, PROVIDER), [config(**NAMED)])
    with pytest.raises(NotYet, match="Waiting to see Secret creds/keys"):
        credentials.check(Request(xr=xr(), required=found), PROVIDER)


@pytest.mark.parametrize("junk", [None, 7, "x", [], {"type": "Junk", "name": 7}, {"name": ""}, {"type": ["a"]}])
def test_requirements_take_any_spec(junk: Any) -> None:
    [asked] = credentials.requirements(Request(xr=xr(credentials=junk)), PROVIDER)

    assert (asked.kind, asked.match_name, asked.namespace) == ("ClusterProviderConfig", "default", None)


@pytest.mark.parametrize(
    "spec",
    [
        None,
        {},
        {"credentials": 7},
        {"credentials": {"source": "Secret"}},
        {"credentials": {"source": "Secret", "secretRef": 7}},
        {"credentials": {"source": "Environment", "secretRef": {"name": "keys", "namespace": "creds"}}},
    ],
)
def test_a_config_that_names_no_secret_needs_none(spec: Any) -> None:
    assert checked({**CONFIG, "spec": spec}) == ""
