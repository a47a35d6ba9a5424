"""Every mistyped name is told at its place in the file, with the name that was meant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from function.main import main

FLEET = Path(__file__).parents[2] / "data" / "validate"
SECRETS = "not-to-be-shown"


def found(folder: Path) -> list[dict[str, Any]]:
    output = CliRunner().invoke(main, ["validate", str(folder), "-o", "json"]).output
    assert SECRETS not in output
    findings: list[dict[str, Any]] = json.loads(output)["findings"]
    return findings


def edited(folder: Path, old: str, new: str) -> list[dict[str, Any]]:
    """The findings in a copy of the fleet in which a text that it has once is another."""
    fleet = {file.name: file.read_text() for file in FLEET.glob("*.yaml")}
    assert sum(text.count(old) for text in fleet.values()) == 1, old
    for name, text in fleet.items():
        (folder / name).write_text(text.replace(old, new))
    return found(folder)


def marked(finding: dict[str, Any]) -> str:
    """The text in the region of a finding, which is within a line."""
    assert finding["line"] == finding["endLine"]
    line = Path(finding["file"]).read_text().split("\n")[finding["line"] - 1]
    return line[finding["column"] - 1 : finding["endColumn"] - 1]


def test_nothing_is_told_where_every_reference_finds_something() -> None:
    assert found(FLEET) == []


TYPOS = [
    ("modelCacheRef: {name: phi}", "modelCacheRef: {name: phy}", "phy", "not-found", "phi"),
    ("className: lab-a100-4x", "className: lab-a100-x4", "lab-a100-x4", "class", "lab-a100-4x"),
    ("secretRef: {name: lab-kubeconfig}", "secretRef: {name: lab-kubeconfg}", "lab-kubeconfg", "not-found",
     "lab-kubeconfig"),
    ("{kubeconfig: not-to", "{kubeconf: not-to", "{name: lab-kubeconfig}", "missing-key", "kubeconf"),
    ("secretRef: {name: edge-certificate}", "secretRef: {name: edge-cert}", "edge-cert", "not-found",
     "edge-certificate"),
    ("storageClassName: ceph-fast", "storageClassName: ceph-fats", "ceph-fats", "not-found", "ceph-fast"),
    ("authSecret: {name: hub-token}", "authSecret: {name: hub-tokens}", "hub-tokens", "not-found", "hub-token"),
    ("configMapRef: {name: company-ca}", "configMapRef: {name: company-cas}", "company-cas", "not-found", "company-ca"),
    ("fallback-key, key: token", "fallback-key, key: tokn", "tokn", "missing-key", "token"),
    ("auth: {secretRef: {name: fallback-key", "auth: {secretRef: {name: fallback", "fallback", "not-found",
     "fallback-key"),
    ("keys: [{secretRef: {name: course-key}}]", "keys: [{secretRef: {name: curse-key}}]", "curse-key", "not-found",
     "course-key"),
    ("imagePullSecrets: [{name: registry}]", "imagePullSecrets: [{name: registri}]", "registri", "not-found",
     "registry"),
    ("- secretRef: {name: tracing}", "- secretRef: {name: traces}", "traces", "not-found", "tracing"),
    ("key: salt", "key: sald", "sald", "missing-key", "salt"),
    ("configMap: {name: prompts,", "configMap: {name: prompt,", "prompt", "not-found", "prompts"),
    ("deployment: phi", "deployment: phy", "phy", "selects-nothing", "phi"),
    ("- selector: {matchLabels: {tier: paid}}", "- selector: {matchLabels: {tear: paid}}", "tear", "selects-nothing",
     "tier"),
    ("- selector: {matchLabels: {tier: paid}}", "- selector: {matchLabels: {tier: payd}}", "payd", "selects-nothing",
     "paid"),
    ("selector: {matchLabels: {group: students}}", "selector: {matchLabels: {group: student}}", "student",
     "selects-nothing", "students"),
    ("    matchLabels: {site: basement}", "    matchLabels: {site: basment}", "basment", "selects-nothing", "basement"),
    ("{matchLabels: {modelplane.ai/region: north}}", "{matchLabels: {modelplane.ai/region: nord}}", "nord",
     "selects-nothing", "north"),
    ("].architecture ==", "].arch ==", "arch", "unknown-attribute", "architecture"),
    ('== "Ampere"', '== "Amper"', '"Amper"', "unknown-value", '"Ampere"'),
    ('device.driver == "gpu.nvidia.com"', 'device.driver == "gpu.nvidia.co"', '"gpu.nvidia.co"', "unknown-value",
     '"gpu.nvidia.com"'),
    ('"gpu.nvidia.com"].memory', '"gpu.nvida.com"].memory', '"gpu.nvida.com"', "unknown-attribute", "gpu.nvidia.com"),
    ("].memory.", "].memori.", "memori", "unknown-attribute", "memory"),
]  # fmt: skip
"""A text of the fleet and the mistyped one, what is marked in it, the code, and what was meant."""


@pytest.mark.parametrize("typo", TYPOS, ids=[typo[1] for typo in TYPOS])
def test_a_typo_is_told_where_it_is(typo: tuple[str, ...], tmp_path: Path) -> None:
    old, new, word, code, meant = typo
    got = [one for one in edited(tmp_path, old, new) if one["code"] == code]

    assert [(marked(one), one["severity"]) for one in got] == [(word, "warning")]
    assert got[0]["message"].endswith(f"did you mean {meant}?")


MISTAKES = [
    ("modelCacheRef: {name: phi}", "modelCacheRef: phi", "phi", "value",
     "must be a map of fields, not a string; write {name: phi}"),
    ("  modelCacheRef: {name: phi}", "  template: {spec: {engines: []}}\n  modelCacheRef: {name: phi}", "template",
     "unknown-field", "move what is under spec.template.spec to spec"),
    ('.memory.compareTo(quantity("40Gi")) >= 0', '.memory >= quantity("40Gi")', ">=", "selector",
     "compare as in x.compareTo(y) >= 0"),
    ('.memory.compareTo(quantity("40Gi")) >= 0', '.memory.compareTo(quantity("40Gi")) >= zero', "zero", "selector",
     "zero"),
]  # fmt: skip
"""As before; of the message, a part."""


@pytest.mark.parametrize("mistake", MISTAKES, ids=[one[1] for one in MISTAKES])
def test_a_mistake_in_one_object_is_told_where_it_is(mistake: tuple[str, ...], tmp_path: Path) -> None:
    old, new, word, code, part = mistake
    got = [one for one in edited(tmp_path, old, new) if one["severity"] == "error"]

    assert [(marked(one), one["code"]) for one in got] == [(word, code)]
    assert part in got[0]["message"]
    assert ", column " not in got[0]["message"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("            args: [--max", "            ports: [{containerPort: 8000}]\n            args: [--max"),
        ("          volumes:\n", "          volumes:\n          - {name: scratch, emptyDir: {}}\n"),
    ],
    ids=["ports", "volumes"],
)
def test_a_usual_pod_template_has_no_findings(old: str, new: str, tmp_path: Path) -> None:
    assert edited(tmp_path, old, new) == []


def test_references_wait_for_what_cannot_be_read(tmp_path: Path) -> None:
    """The name that is missing may be in it."""
    got = edited(tmp_path, "spec:\n  replicas: 2", "spec:\n   replicas: 2")

    assert [(one["code"], one["severity"]) for one in got] == [("unreadable", "error"), ("unchecked", "note")]
    assert {Path(one["file"]).name for one in got} == {"team.yaml"}


def test_engines_of_one_deployment_answer_to_one_name(tmp_path: Path) -> None:
    more = """  engines:
  - name: renamed
    members:
    - nodeSelector: {devices: [{name: gpu, count: 1, selectors: [{cel: device.driver == "gpu.nvidia.com"}]}]}
      template:
        spec:
          containers: [{name: engine, image: vllm/vllm-openai:v0.23.0, args: [--served-model-name=phi-next]}]
"""
    (got,) = edited(tmp_path, "  engines:\n", more)

    told = 'renamed to "phi-next", vllm to "microsoft/phi-4"'
    assert got["code"] == "model-names"
    assert f"answer to no common model name, so a part of the requests fails: {told}" in got["message"]


def test_what_is_made_by_a_controller_is_given(tmp_path: Path) -> None:
    made = """apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: from-the-vault, namespace: research}
spec: {target: {name: traces}}
"""
    got = edited(tmp_path, "- secretRef: {name: tracing}", "- secretRef: {name: traces}")
    (tmp_path / "made.yaml").write_text(made)

    assert ([one["code"] for one in got], found(tmp_path)) == (["not-found"], [])


def test_a_kind_of_which_nothing_is_given_is_one_note(tmp_path: Path) -> None:
    """A repository with a team's objects alone does not drown in warnings."""
    parts = (FLEET / "team.yaml").read_text().split("\n---\n")
    kept = [part for part in parts if "kind: ModelDeployment" in part or "kind: ModelService" in part]
    kept[1] = kept[1].partition("  - selector: {matchLabels: {tier: paid}}")[0]
    (tmp_path / "team.yaml").write_text("\n---\n".join(kept))

    told = {one["message"].partition("but no ")[2].partition(" is given")[0]: one for one in found(tmp_path)}
    assert {one["severity"] for one in told.values()} == {"note"}
    assert [*told] == [
        "ModelCache", "InferenceCluster", "InferenceClass", "Secret", "ConfigMap", "InferenceGateway", "ModelCaller"
    ]  # fmt: skip
    assert told["Secret"]["message"].endswith("but no Secret is given: this and 2 more like it cannot be checked")


@pytest.mark.parametrize(
    ("written", "word"),
    [
        ("device.driver == gpu", "gpu"),
        ("'device.driver == ''a'' && gpu'", "gpu"),
        ('"device.driver == \\"\\u0061\\" && gpu"', "gpu"),
        ("|\n              true &&\n                gpu\n", "gpu"),
        (">-\n              true &&\n\n              gpu\n", "gpu"),
        ("|2-\n                true &&\n              gpu\n", "gpu"),
        ("\n              true &&\n              gpu\n", "gpu"),
    ],
    ids=["plain", "single quotes", "double quotes", "literal", "folded", "indicator", "plain over lines"],
)
def test_a_place_in_a_selector_is_found_however_it_is_written(written: str, word: str, tmp_path: Path) -> None:
    """The name is not declared."""
    text = (FLEET / "team.yaml").read_text()
    before, _, rest = text.partition(">-\n")
    (tmp_path / "team.yaml").write_text(f"{before}{written}\n      template:{rest.partition('      template:')[2]}")

    (got,) = (one for one in found(tmp_path) if one["severity"] == "error")
    assert (got["code"], marked(got)) == ("selector", word)
