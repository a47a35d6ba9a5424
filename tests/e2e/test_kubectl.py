"""What kubectl shows of our kinds: columns, reasons, events, explanations."""

import json
from collections.abc import Iterator
from typing import Any

from function.publish import catalog, xrd
from function.publish.catalog import Kind
from tests.e2e import objects
from tests.e2e.control import Control
from tests.e2e.kube import Object
from tests.e2e.objects import changed
from tests.e2e.team import Team
from tests.e2e.waiting import until

OF_CROSSPLANE = ["SYNCED", "READY", "COMPOSITION", "COMPOSITIONREVISION", "AGE"]  # crossplane-runtime v2.4, pkg/xcrd
SELECTOR = "spec.engines.0.members.0.nodeSelector.devices.0.selectors.0.cel"
BY_CROSSPLANE = ("SelectComposition", "CompositionUpdatePolicy")  # crossplane v2.4, composite/reconciler.go
EAST = {"matchLabels": {"modelplane.ai/region": "us-east"}}


def test_every_kind_has_columns_for_an_operator(published: Control) -> None:
    """The API server takes every path, and says of each column what it is."""
    for kind in catalog.KINDS:
        found = published.api.table(kind.api_version, kind.kind)["columnDefinitions"]
        assert [one["name"] for one in found] == ["Name", *(c.name for c in xrd.columns(kind)), *OF_CROSSPLANE]
        ours = found[1 : -len(OF_CROSSPLANE)]
        assert not [one["name"] for one in ours if "JSONPath" in one["description"] and ".metadata" not in str(one)]


def test_what_is_as_asked_has_numbers_and_no_reason(published: Control) -> None:
    rows = cells(published.api.table(objects.GROUP, "InferenceCluster"))
    assert {row["Name"]: (row["REASON"], row["MESSAGE"], row["SERVING"], row["NODES"]) for row in rows} == {
        "east": (None, None, True, 4),
        "west": (None, None, True, 10),
    }
    assert "l4" in published.kubectl("get", "modelplane")
    assert "west" in published.kubectl("get", "ic")


def test_a_shortage_and_a_refused_edit_read_like_a_story(team: Team) -> None:
    """A deployment that is too large names the reason until it is scaled. Each event is told once."""
    deployment = team.deploy(replicas=6, clusterSelector=EAST)
    await_row(team, WANTED=6, PLACED=4, SERVING=4, UPDATED=4, REASON="InsufficientCapacity")

    kubectl(team, "scale", "modeldeployment/qwen", "--replicas=4")
    kubectl(team, "wait", "modeldeployment/qwen", "--for=condition=Ready", "--timeout=120s")
    await_row(team, WANTED=4, PLACED=4, SERVING=4, UPDATED=4, REASON=None, MESSAGE=None, READY="True")

    team.api.apply(changed(changed(deployment, "spec.replicas", 4), SELECTOR, "device.driver =="))
    reason = "jsonpath={.status.reason}=InvalidNodeSelector"
    kubectl(team, "wait", "modeldeployment/qwen", f"--for={reason}", "--timeout=120s")
    await_row(team, SERVING=4, REASON="InvalidNodeSelector", READY="False")

    team.settled()
    print(kubectl(team, "get", "md,mr,me"))
    print(kubectl(team, "get", "md", "-o", "wide"))
    print(kubectl(team, "get", "events", "--sort-by=.metadata.creationTimestamp"))
    print(kubectl(team, "describe", "modeldeployment", "qwen"))
    told = [one for one in events(team, "ModelDeployment") if one["reason"] not in BY_CROSSPLANE]
    reasons = [one["reason"] for one in told]
    assert sorted(set(reasons)) == sorted(reasons), "an event is told twice"
    assert set(reasons) >= {
        "Placed",
        "InsufficientCapacity",
        "ReplicasCreated",
        "AllReplicasReady",
        "InvalidNodeSelector",
    }
    assert {one["reason"] for one in told if one["type"] == "Warning"} == {
        "InsufficientCapacity",
        "InvalidNodeSelector",
    }


def test_kubectl_explains_every_field(published: Control) -> None:
    """As the API server publishes it: our schema, Crossplane's own fields, and what all objects have."""
    for kind in catalog.KINDS:
        told = published.kubectl("explain", kind.plural, "--recursive", f"--api-version={kind.api_version}")
        assert kind.description.split("\n")[0][:40] in told
        schema = definition(published, kind)
        assert [path for path, text in described(schema["properties"]) if not text] == []
    replicas = " ".join(published.kubectl("explain", "modeldeployment.spec.replicas").split())
    assert "replicas <integer>" in replicas
    print(replicas)


def definition(control: Control, kind: Kind) -> dict[str, Any]:
    """The schema of a kind, from the API server's OpenAPI."""
    document = json.loads(control.api.text("GET", f"/openapi/v3/apis/{kind.api_version}"))
    schemas = document["components"]["schemas"]
    [found] = [one for name, one in schemas.items() if name.endswith(f".{kind.kind}")]
    return dict(found)


def described(properties: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """The description of every field of ours; Crossplane's, and those of all objects, are its own."""
    for name, field in properties.items():
        if path + name in ("metadata", "spec.crossplane", "status.conditions"):
            continue
        yield path + name, field.get("description", "")
        yield from described(field.get("properties", {}), f"{path}{name}.")
        yield from described(field.get("items", {}).get("properties", {}), f"{path}{name}[].")


def cells(table: Object) -> list[dict[str, Any]]:
    names = [one["name"] for one in table["columnDefinitions"]]
    return [dict(zip(names, row["cells"], strict=True)) for row in table["rows"]]


def await_row(team: Team, **wanted: Any) -> None:
    until(
        lambda: cells(team.api.table(objects.GROUP, "ModelDeployment", team.namespace)),
        f"kubectl get to show {wanted}",
        holds=lambda rows: rows and {name: rows[0][name] for name in wanted} == wanted,
    )


def events(team: Team, kind: str) -> list[Object]:
    return [one for one in team.api.list("v1", "Event", team.namespace) if one["involvedObject"]["kind"] == kind]


def kubectl(team: Team, *arguments: str) -> str:
    return team.control.kubectl("--namespace", team.namespace, *arguments)
