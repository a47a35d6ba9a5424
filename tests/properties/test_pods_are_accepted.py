"""A template that the model accepts becomes pods that Kubernetes accepts: by their schema, and by value.

The rules by value are those of kubernetes v1.36, pkg/apis/core/validation/validation.go, each with its function.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from function.cel.libraries import quantity
from function.core import dig
from function.publish.catalog import BY_KIND
from function.schema import problems
from tests.support import foreign, replicas
from tests.support.rendered import containers, pod, remote, templates

pytestmark = pytest.mark.slow

Manifest = dict[str, Any]

QUALIFIED = re.compile(
    r"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-\w.]*[A-Za-z0-9])?"
)
LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-\w.]*)?[A-Za-z0-9])?", re.ASCII)
CONFIG_KEY = re.compile(r"[-._a-zA-Z0-9]+")
HEADER = re.compile(r"[-A-Za-z0-9]+")
FIELDS = ["metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName"]
FIELDS += ["status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"]

keys = st.sampled_from(["a", "example.org/a", "A/b", "a b", "", "-a", "a" * 64, f"{'a.' * 130}b/c", "a/b/c", "ä"])
texts = st.sampled_from(["", "a", "a b", "ä" * 40000, "x" * 30000, "$(A)", "-", "a" * 64, "\n"])
names = st.sampled_from(["A", "a.b", ".", "..", "..a", "1a", "a=b", "", "_", "a b"])
secret_keys = st.sampled_from(["a", "tls.crt", ".", "..", "..a", "a/b", ""])
paths = st.sampled_from(
    [
        *FIELDS,
        *("spec.host", "status.phase", "metadata.labels", "metadata.name['a']"),
        *("metadata.labels['a']", "metadata.labels['a b']", "metadata.labels['']"),
        *("metadata.annotations['example.org/a']", "metadata.annotations['a/b/c']"),
    ]
)
images = st.sampled_from(["a", "a:b", " a", "a ", "", "A:b", "r.io/a@sha256:" + "0" * 64, "a\n"])
amounts = st.sampled_from(["1", "500m", "2Gi", "1e3", "0", "-1", "1.5.2", "2G", 4, 0.5])
seconds = st.sampled_from([-1, 0, 1, 30, 86400])
variables = st.one_of(
    st.builds(lambda name, value: {"name": name, "value": value}, names, texts),
    st.builds(lambda name, path: {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}, names, paths),
    st.builds(
        lambda name, key: {
            "name": name,
            "valueFrom": {"configMapKeyRef": {"name": "conf", "key": key, "optional": True}},
        },
        names,
        secret_keys,
    ),
)
handlers = st.one_of(
    st.builds(
        lambda path, port, name: {
            "httpGet": {"path": path, "port": port, "httpHeaders": [{"name": name, "value": "x"}]}
        },
        st.sampled_from(["/", "", "a", "/a b"]),
        st.sampled_from([0, 1, 65535, 65536]),
        st.sampled_from(["Host", "X-A", "a b", ""]),
    ),
    st.just({"tcpSocket": {"port": 1}, "exec": {"command": ["true"]}}),
    st.sampled_from([{}, {"exec": {"command": []}}, {"exec": {"command": ["true"]}}, {"grpc": {"port": 1}}]),
)
numbers = st.dictionaries(
    st.sampled_from(["periodSeconds", "timeoutSeconds", "successThreshold", "terminationGracePeriodSeconds"]),
    seconds,
    max_size=2,
)
probes = st.builds(lambda handler, numbers: {**handler, **numbers}, handlers, numbers)
resources = st.dictionaries(
    st.sampled_from(["requests", "limits"]),
    st.dictionaries(st.sampled_from(["cpu", "memory", "example.org/x"]), amounts, max_size=2),
)
optional: dict[str, st.SearchStrategy[Any]] = {
    "image": images,
    "env": st.lists(variables, max_size=3),
    "resources": resources,
    "startupProbe": probes,
    "readinessProbe": probes,
    "livenessProbe": probes,
    "metadata": st.fixed_dictionaries(
        {},
        optional={
            "labels": st.dictionaries(keys, texts, max_size=2),
            "annotations": st.dictionaries(keys | st.sampled_from("bcdefghijk"), texts, max_size=10),
        },
    ),
}


@st.composite
def some_fields(draw: st.DrawFn) -> Manifest:
    """One or two of them: with more hardly any template is accepted."""
    chosen = draw(st.lists(st.sampled_from(sorted(optional)), min_size=1, max_size=2, unique=True))
    return {field: draw(optional[field]) for field in chosen}


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(some_fields())
def test_a_template_that_the_model_accepts_becomes_pods_that_kubernetes_accepts(fields: Manifest) -> None:
    xr = replicas.replica(replicas.engine("main", replicas.member("Qwen/Qwen3-8B", **fields)))
    assume(not problems(BY_KIND[xr["apiVersion"], xr["kind"]].spec, xr))

    for manifest in remote(replicas.compose(xr).resources):
        for template in templates(manifest):
            assert [*foreign.problems(pod(template)), *refusals(template)] == []


def refusals(template: Manifest) -> Iterator[str]:
    metadata = template["metadata"]
    for key, value in metadata.get("labels", {}).items():
        if not _is_qualified(key) or len(value) > 63 or not LABEL_VALUE.fullmatch(value):  # ValidateLabels
            yield f"label {key}"
    annotations = metadata.get("annotations", {})
    yield from (f"annotation {key}" for key in annotations if not _is_qualified(key.lower()))  # ValidateAnnotations
    if sum(len(k.encode()) + len(v.encode()) for k, v in annotations.items()) > 256 * 1024:  # ValidateAnnotationsSize
        yield "annotations"
    for container in containers(template):
        yield from _of_a_container(container)


def _of_a_container(container: Manifest) -> Iterator[str]:
    image = container["image"]
    if not image or image != image.strip():  # validateContainerCommon
        yield "image"
    for variable in container.get("env", ()):
        yield from _of_a_variable(variable)
    requests, limits = (dig(container, "resources", field) or {} for field in ("requests", "limits"))
    for name in requests.keys() & limits.keys():  # ValidateContainerResourceRequirements
        if quantity.parse(str(requests[name])) > quantity.parse(str(limits[name])):
            yield f"request of {name}"
    for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
        yield from _of_a_probe(kind, container.get(kind))


def _of_a_variable(variable: Manifest) -> Iterator[str]:
    if not re.fullmatch(r"[ -<>-~]+", variable["name"]):  # ValidateEnv, IsRelaxedEnvVarName
        yield "name of a variable"
    source = variable.get("valueFrom", {})
    path = dig(source, "fieldRef", "fieldPath")
    if path and not _is_field(path):
        yield f"field {path}"
    for kind in ("secretKeyRef", "configMapKeyRef"):
        key = dig(source, kind, "key")
        wrong = key is not None and (not CONFIG_KEY.fullmatch(key) or key == "." or key.startswith(".."))
        if wrong:  # validateSecretKeySelector, IsConfigMapKey
            yield f"key {key}"


def _is_field(path: str) -> bool:
    """validateObjectFieldSelector."""
    subscripted = re.fullmatch(r"metadata\.(labels|annotations)\['(.*)'\]", path)
    if subscripted is None:
        return path in FIELDS
    return _is_qualified(subscripted[2].lower() if subscripted[1] == "annotations" else subscripted[2])


def _is_qualified(key: str) -> bool:
    """IsQualifiedName."""
    domain, _, name = key.rpartition("/")
    return len(domain) <= 253 and len(name) <= 63 and QUALIFIED.fullmatch(key) is not None and key.isascii()


def _of_a_probe(kind: str, probe: Manifest | None) -> Iterator[str]:
    """validateProbe, validateHandler, validateHTTPGetAction, validateLivenessProbe, validateReadinessProbe."""
    if probe is None:
        return
    if sum(handler in probe for handler in ("httpGet", "tcpSocket", "grpc", "exec")) != 1:
        yield f"{kind}: handlers"
    if any(value < 0 for value in probe.values() if isinstance(value, int)):
        yield f"{kind}: numbers"
    if kind != "readinessProbe" and (probe.get("successThreshold") or 1) != 1:  # SetDefaults_Probe
        yield f"{kind}: successThreshold"
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and (kind == "readinessProbe" or grace <= 0):
        yield f"{kind}: terminationGracePeriodSeconds"
    yield from (f"{kind}: {fault}" for fault in _of_a_handler(probe))


def _of_a_handler(probe: Manifest) -> Iterator[str]:
    got = probe.get("httpGet")
    if got and (not got.get("path", "/") or not all(HEADER.fullmatch(h["name"]) for h in got.get("httpHeaders", ()))):
        yield "httpGet"
    ports = [dig(probe, handler, "port") for handler in ("httpGet", "tcpSocket", "grpc") if handler in probe]
    if not all(1 <= port <= 65535 for port in ports):
        yield "port"
    if "exec" in probe and not probe["exec"]["command"]:
        yield "command"
