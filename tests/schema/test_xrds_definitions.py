"""The committed definitions and Compositions: what the API server and Crossplane ask of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from function.cli import reference
from function.main import main
from function.publish import generate, reasons, runbooks, xrd
from function.publish.catalog import BY_KIND, KINDS, Kind
from function.schema.structural import structural
from function.vocabulary import versions
from tests.support.cases import CASES, answer, load
from tests.support.samples import ALL

ROOT = Path(__file__).parents[2]
CRDS = ROOT / "tests/data/crds"
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
Place = tuple[str, dict[str, Any]]

_KEYWORDS = {
    *("description", "type", "format", "enum", "default", "minimum", "maximum", "minLength", "maxLength", "pattern"),
    *("minItems", "maxItems", "minProperties", "maxProperties", "required", "properties", "items", "anyOf"),
    *("additionalProperties", "x-kubernetes-validations", "x-kubernetes-list-type", "x-kubernetes-list-map-keys"),
    *("x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields"),
}
_COPIED = {"description", "type", "required", "properties", "x-kubernetes-validations"}
_CROSSPLANES_COLUMNS = {"SYNCED", "READY", "COMPOSITION", "COMPOSITIONREVISION", "AGE"}
_LONGEST_APPLIED = 262_144
"""Bytes of an annotation: kubectl's client-side apply writes the whole object into one."""
_LONGEST = 98_304
"""Bytes of a definition. Far below what can be applied, since each field of a pod stands in one four times."""


def nodes(schema: dict[str, Any], path: str = "") -> Iterator[Place]:
    """Every schema in a schema, with the path of the field that it describes."""
    yield path, schema
    for name, child in schema.get("properties", {}).items():
        yield from nodes(child, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield from nodes(schema[key], f"{path}[]")


def at(schema: dict[str, Any], path: str) -> dict[str, Any]:
    """The schema of the field at a printer column's path. Fails where there is none."""
    for step in path.removeprefix(".").split("."):
        schema = schema["properties"][step.removesuffix("[]")]
        schema = schema["items"] if step.endswith("[]") else schema
    return schema


def crd(name: str) -> dict[str, Any]:
    schema = json.loads((CRDS / f"{name}.json").read_text())["schema"]
    assert isinstance(schema, dict)
    return schema


def read(folder: str, kind: Kind) -> dict[str, Any]:
    manifest = yaml.safe_load((ROOT / folder / f"{kind.plural}.yaml").read_text())
    assert isinstance(manifest, dict)
    return manifest


@pytest.mark.slow
def test_what_is_committed_is_what_the_models_say() -> None:
    assert generate.check(ROOT, reference.files(main)) == []


def test_writing_twice_changes_nothing_and_a_file_of_no_kind_goes(tmp_path: Path) -> None:
    first = generate.write(tmp_path)
    (tmp_path / "xrds/old.yaml").write_text("")
    (tmp_path / "xrds/modelcaches.yaml").write_text("")

    assert first == sorted(generate.files())
    assert [stale.path for stale in generate.check(tmp_path)] == ["xrds/modelcaches.yaml", "xrds/old.yaml"]
    assert generate.write(tmp_path) == ["xrds/modelcaches.yaml", "xrds/old.yaml"]
    assert generate.check(tmp_path) == []


@each_kind
def test_a_definition_is_one_to_crossplane(kind: Kind) -> None:
    jsonschema.validate(read("xrds", kind), crd("apiextensions.crossplane.io_v2_CompositeResourceDefinition"))


@each_kind
def test_a_composition_is_one_to_crossplane(kind: Kind) -> None:
    jsonschema.validate(read("compositions", kind), crd("apiextensions.crossplane.io_v1_Composition"))


@each_kind
def test_a_composition_calls_the_one_function_once_for_the_version_that_is_stored(kind: Kind) -> None:
    composition, definition = read("compositions", kind), read("xrds", kind)

    [version] = definition["spec"]["versions"]
    stored = {"apiVersion": f"{definition['spec']['group']}/{version['name']}", "kind": kind.kind}
    want = {
        "compositeTypeRef": stored,
        "mode": "Pipeline",
        "pipeline": [{"step": "modelplane", "functionRef": {"name": versions.FUNCTION}}],
    }
    assert composition["spec"] == want
    assert definition["spec"]["defaultCompositionRef"] == {"name": composition["metadata"]["name"]}


@each_kind
def test_a_schema_is_structural_and_says_only_what_kubernetes_knows(kind: Kind) -> None:
    """A `default` of null, a `$ref`, a union: the API server refuses the whole definition."""
    strange = {
        f"{path}: {key}"
        for path, node in nodes(xrd.schema(kind))
        for key, value in node.items()
        if key not in _KEYWORDS or value is None or (key == "anyOf" and "x-kubernetes-int-or-string" not in node)
    }
    untyped = {
        path
        for path, node in nodes(xrd.schema(kind))
        if sum(("type" in node, "anyOf" in node)) != 1 and "x-kubernetes-preserve-unknown-fields" not in node
    }

    assert (strange, untyped) == (set(), set())


@each_kind
def test_every_bound_is_one_of_its_type(kind: Kind) -> None:
    """A bound of another type bounds nothing, and nobody says so."""
    bounds = {"string": "Length", "array": "Items", "object": "Properties"}
    strange = {
        f"{path}: {key}"
        for path, node in nodes(xrd.schema(kind))
        for key in node
        if re.match("(min|max)[A-Z]", key) and "anyOf" not in node and key[3:] != bounds.get(node["type"])
    }

    assert strange == set()


@each_kind
def test_at_spec_and_status_stands_only_what_crossplane_copies(kind: Kind) -> None:
    """Anything else is dropped without a word when Crossplane makes the CRD."""
    properties = xrd.schema(kind)["properties"]

    assert (properties["spec"].keys() | properties["status"].keys()) - _COPIED == set()
    assert properties.keys() == {"spec", "status"}
    assert (
        not {"crossplane", "conditions"}
        & (properties["spec"]["properties"] | properties["status"]["properties"]).keys()
    )


@each_kind
def test_a_schema_with_rules_preserves_no_unknown_fields_but_those_of_pod_templates(kind: Kind) -> None:
    preserving = {p for p, node in nodes(xrd.schema(kind)) if "x-kubernetes-preserve-unknown-fields" in node}
    ruled = {p for p, node in nodes(xrd.schema(kind)) if "x-kubernetes-validations" in node}

    assert {path for path in preserving if not is_in_template(path)} == set()
    assert {path for path in ruled if is_in_template(path)} == set()


def is_in_template(path: str) -> bool:
    """Whether a path leads to a pod template or into one."""
    return ".members[].template" in path


@each_kind
def test_everything_that_a_user_writes_is_bounded_outside_of_templates(kind: Kind) -> None:
    """The API server estimates what a rule costs at most: an unbounded string or list costs without end.

    No rule is about what is in a template, and the model bounds templates as a whole.
    """
    bounds = {"string": "maxLength", "array": "maxItems", "integer": "maximum"}
    unbounded = {
        path
        for path, node in nodes(structural(kind.spec))
        if not is_in_template(path)
        if (bounds.get(node.get("type", "")) not in (None, *node) and "enum" not in node)
        or ("additionalProperties" in node and "maxProperties" not in node)
    }

    assert unbounded == set()


@each_kind
def test_every_field_is_described_in_a_sentence(kind: Kind) -> None:
    without = {
        path
        for path, node in nodes(xrd.schema(kind))
        if not path.endswith("[]") and not re.match(r"\S.*[.:]$", node.get("description", ""))
    }

    assert without == set()


@each_kind
def test_every_list_with_keys_names_keys_that_its_items_must_have(kind: Kind) -> None:
    missing = {
        path
        for path, node in nodes(xrd.schema(kind))
        if not set(node.get("x-kubernetes-list-map-keys", ())) <= set(node.get("items", {}).get("required", ()))
    }

    assert missing == set()


@each_kind
def test_every_pattern_is_anchored_and_one_to_go_as_well(kind: Kind) -> None:
    """Go's expressions have no look-around and no back-references."""
    patterns = {pattern for _, node in nodes(xrd.schema(kind)) for pattern in _patterns(node)}
    strange = {p for p in patterns if not re.fullmatch(r"\^.*\$", p) or re.search(r"\(\?|\\[1-9zZA]", p)}

    assert strange == set()
    for pattern in patterns:
        re.compile(pattern)


@each_kind
def test_a_text_is_refused_in_words(kind: Kind) -> None:
    """The API server repeats a `pattern` as it is. Only of an amount nothing else can be said: what may be a number or
    a text has no length to a rule, which so costs too much."""
    silent = {path for path, node in nodes(xrd.schema(kind)) if "pattern" in node and "anyOf" not in node}

    assert silent == set()


def _patterns(node: dict[str, Any]) -> Iterator[str]:
    """Of a schema and of its rules."""
    if "pattern" in node:
        yield node["pattern"]
    for rule in node.get("x-kubernetes-validations", ()):
        for quoted in re.findall(r"matches\('((?:[^'\\]|\\.)*)'\)", rule["rule"]):
            yield re.sub(r"\\(.)", r"\1", quoted)


@each_kind
def test_every_default_is_a_value_of_its_field(kind: Kind) -> None:
    for _, node in nodes(xrd.schema(kind)):
        if "default" in node:
            jsonschema.validate(node["default"], node)


@each_kind
def test_every_rule_has_a_message_and_a_field_that_exists(kind: Kind) -> None:
    for _, node in nodes(xrd.schema(kind)):
        for rule in node.get("x-kubernetes-validations", ()):
            assert rule["message"].strip(), rule
            if "fieldPath" in rule and not rule["fieldPath"].startswith(".metadata"):
                at(node, rule["fieldPath"])


_FILTER = re.compile(r"\[[^\]]*\]")
"""What chooses among the items of a list."""


@each_kind
def test_columns_are_ours_and_their_fields_exist_with_their_types(kind: Kind) -> None:
    columns = [column for column in xrd.columns(kind) if not column.path.startswith(".metadata.")]
    got = {column.name: at(xrd.schema(kind), _FILTER.sub("[]", column.path))["type"] for column in columns}

    assert got == {column.name: column.type for column in columns}
    assert not {column.name for column in xrd.columns(kind)} & _CROSSPLANES_COLUMNS


@pytest.mark.parametrize("xr", ALL, ids=lambda xr: xr["kind"])
def test_columns_about_the_spec_resolve_on_a_sample(xr: dict[str, Any]) -> None:
    for column in BY_KIND[xr["apiVersion"], xr["kind"]].columns:
        place: Any = xr if column.path.startswith(".spec") else None
        for step in column.path.removeprefix(".").split(".") if place else ():
            place = place[step]
        assert place is None or isinstance(place, str | int)


def test_a_deployment_can_be_scaled_by_kubectl_and_by_autoscalers() -> None:
    [version] = read("xrds", BY_KIND[versions.MODELPLANE, "ModelDeployment"])["spec"]["versions"]
    scale = version["subresources"]["scale"]

    want = {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.replicas.total",
        "labelSelectorPath": ".status.selector",
    }
    types = [at(version["schema"]["openAPIV3Schema"], path)["type"] for path in scale.values()]
    assert (scale, types) == (want, ["integer", "integer", "string"])


def test_short_names_are_those_that_users_know_and_unlike() -> None:
    want = {
        "ModelDeployment": "md",
        "ModelReplica": "mr",
        "ModelService": "ms",
        "ModelEndpoint": "me",
        "ModelCache": "mc",
        "ModelCaller": "mcl",
        "InferenceClass": "icl",
        "InferenceCluster": "ic",
        "InferenceGateway": "ig",
        "ServingStack": "ss",
        "EKSCluster": "eks",
        "GKECluster": "gke",
        "AKSCluster": "aks",
        "NebiusCluster": "mk8s",
        "VultrCluster": "vke",
    }
    got = {kind.kind: kind.short_names for kind in KINDS}

    assert got == {kind: (want[kind],) for kind in got}


@each_kind
def test_a_definition_fits_where_kubectl_notes_it_with_room(kind: Kind, record_property: Callable[..., None]) -> None:
    size = len(json.dumps(read("xrds", kind)))
    record_property(f"bytes of the definition of {kind.kind}", size)

    assert size < _LONGEST < _LONGEST_APPLIED


@pytest.mark.parametrize("xr", ALL, ids=lambda xr: xr["kind"])
def test_a_full_object_of_every_kind_fits_its_schema(xr: dict[str, Any]) -> None:
    """By a validator that is not ours."""
    jsonschema.validate(xr, xrd.schema(BY_KIND[xr["apiVersion"], xr["kind"]]))


@each_kind
def test_the_reference_names_every_field_and_every_reason_that_users_can_meet(kind: Kind) -> None:
    page = generate.files()[f"docs/reference/{kind.kind.lower()}.md"]

    fields = {path.removeprefix(".") for _, path in _named(structural(kind.spec))}
    assert {field for field in fields if f"| `{field}`" not in page} == set()
    assert {
        r.reason for r in reasons.of(kind) if f"| {r.type} | {r.status} | {runbooks.link(r.reason)} |" not in page
    } == set()


@pytest.mark.parametrize("case", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_reason_that_a_case_says_is_in_the_reference(case: Path) -> None:
    xr = load(case)[0].xr
    known = {(r.type, r.status, r.reason) for r in reasons.of(BY_KIND[xr["apiVersion"], xr["kind"]])}

    assert {(c.type, c.status, c.reason) for c in answer(case).conditions} - known == set()


def _named(schema: dict[str, Any], path: str = "") -> Iterator[tuple[dict[str, Any], str]]:
    """Every field with the path that the reference writes."""
    for name, child in schema.get("properties", {}).items():
        yield child, f"{path}.{name}"
        yield from _named(child, f"{path}.{name}")
        yield from _named(child.get("items", {}), f"{path}.{name}[]")
        yield from _named(child.get("additionalProperties", {}), f"{path}.{name}.<key>")


@each_kind
def test_no_list_of_a_version_is_empty(kind: Kind) -> None:
    """Crossplane's CLI leaves empty lists out of a package, so a definition would differ from its file."""
    [version] = xrd.definition(kind)["spec"]["versions"]
    assert [key for key, value in version.items() if value == []] == []
