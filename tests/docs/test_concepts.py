"""What the pages about concepts say of kinds and limits is what the code says."""

from __future__ import annotations

import re
from pathlib import Path

from function.core import ConditionType, Reason
from function.kinds.modelcache import staging
from function.kinds.modelservice import admitted, proxy
from function.publish import xrd
from function.publish.catalog import KINDS, Kind
from function.schema import Audience
from function.vocabulary import conditions, versions
from function.wire.encode import LARGEST_RESPONSE

DOCS = Path(__file__).parents[2] / "docs"
CONCEPTS = DOCS / "concepts"
ROLES = {Audience.PLATFORM: "platform team", Audience.TEAM: "ML team", Audience.INTERNAL: "Modelplane"}
COMPOSED = "Modelplane; ML team for outside providers"
"""The one kind that both write."""


def rows(page: str, heading: str) -> list[list[str]]:
    """The cells of the first table of a section, without its head."""
    section = (CONCEPTS / page).read_text().partition(f"\n## {heading}\n")[2]
    table = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def spec(kind: str) -> dict[str, dict[str, int]]:
    """The schemas of the fields of a kind's spec."""
    [found] = [each for each in KINDS if each.kind == kind]
    return xrd.schema(found)["properties"]["spec"]["properties"]


def writer(kind: Kind) -> str:
    return COMPOSED if kind.kind == "ModelEndpoint" else ROLES[kind.audience]


def test_every_kind_has_its_scope_and_its_writer() -> None:
    told = [row[:3] for row in rows("overview.md", "Kinds")]

    ours = [kind for kind in KINDS if kind.group == versions.MODELPLANE.partition("/")[0]]
    scopes = {"Cluster": "cluster", "Namespaced": "namespace"}
    wanted = [
        [f"[{kind.kind}](../reference/{kind.kind.lower()}.md)", scopes[kind.scope], writer(kind)] for kind in ours
    ]
    assert sorted(told[:-1]) == sorted(wanted)
    assert told[-1][1:] == ["namespace", "Modelplane"]


def test_every_condition_and_reason_that_is_named_exists() -> None:
    text = " ".join(
        " ".join(page.read_text().split()) for folder in ("concepts", "how-to") for page in (DOCS / folder).glob("*.md")
    )
    declared = vars(conditions).values()

    named = re.findall(r"`(\w+)` is (?:True|False|Unknown)", text), re.findall(r"reason `(\w+)`", text)
    assert set(named[0]) <= {"ScalingActive", *(one.type for one in declared if isinstance(one, ConditionType))}
    assert set(named[1]) <= {one.reason for one in declared if isinstance(one, Reason)}
    assert all(named)


def test_the_limits_are_those_of_the_code() -> None:
    told = {name: value for name, value, _ in rows("architecture.md", "Limits")}

    assert told["response of the function"].startswith(f"{LARGEST_RESPONSE / 2**20:.1f} MiB")
    assert told["endpoints of a service"] == str(proxy.MOST)
    assert told["callers of a service"] == str(admitted.MOST)
    assert told["clusters that a cache stages at once"] == str(staging.MOST_AT_ONCE)
    assert told["replicas of a deployment"] == str(spec("ModelDeployment")["replicas"]["maximum"])
    assert told["pools of a cluster"] == str(spec("InferenceCluster")["nodePools"]["maxItems"])
