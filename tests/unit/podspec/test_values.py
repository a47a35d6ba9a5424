"""Values of templates that have the form of what is asked for and are none of it."""

from __future__ import annotations

import pytest

from function import podspec
from tests.support.samples import TEMPLATE, Object, edited

IN = "spec.containers.0"
LONG = ".".join(["a" * 63] * 4)  # 255 characters
FIELD = f"{IN}.env.3.valueFrom.fieldRef.fieldPath"
Table = dict[str, tuple[str, tuple[object, ...]]]

GOOD: Table = {
    "keys of Secrets": (f"{IN}.env.1.valueFrom.secretKeyRef.key", ("a", "tls.crt", ".docker", "a..b", "-", "_")),
    "names of variables": (f"{IN}.env.0.name", ("A", "a.b-c", "_", ".a", "-a", ".", "..a", "1a", "a b")),
    "images": (
        f"{IN}.image",
        (
            "vllm",
            "vllm/vllm-openai:v0.23.0",
            "localhost:5000/a/b:c",
            "Registry.Example.org/a__b/c-d--e:V1_x.y",
            "[2001:db8::1]:5000/a",
            f"nvcr.io/nvidia/tritonserver:26.01@sha256:{'0' * 64}",
        ),
    ),
    "keys of labels": ("metadata.labels", ({f"{LONG[:253]}/a": "x"}, {"a" * 63: "x"})),
    "fields of pods": (
        FIELD,
        (
            "metadata.uid",
            "status.podIPs",
            "metadata.labels['a']",
            f"metadata.labels['{LONG[:253]}/{'a' * 63}']",
            "metadata.annotations['example.org/A_b']",
            f"metadata.annotations['{LONG[:253]}/{'a' * 63}']",
        ),
    ),
    "amounts": (
        f"{IN}.resources.limits.ephemeral-storage",
        (0, 8, 8.0, 0.5, "0", "8", "500m", ".5", "5.", "1e3", "16"),
    ),
    "ports": (f"{IN}.readinessProbe.tcpSocket.port", (1, 65535, 8000.0)),
}
BAD: Table = {
    "keys of Secrets": (f"{IN}.env.1.valueFrom.secretKeyRef.key", (".", "..", "..a", "a/b", "", "a" * 254)),
    "names of variables": (f"{IN}.env.0.name", ("a=b", "", "\u00e4", "a\n", "\t")),
    "images": (
        f"{IN}.image",
        ("Vllm", "a b", "a:", ":a", "a@sha256:0", "https://docker.io/a", "a//b", "a:-b", "a/b/", "${IMAGE}", "a:b:c"),
    ),
    "keys of labels": ("metadata.labels", ({f"{LONG[:254]}/a": "x"}, {"a" * 64: "x"}, {"": "x"}, {"a/": "x"})),
    "fields of pods": (
        FIELD,
        (
            "metadata.labels",
            "metadata.annotations",
            "metadata.labels['']",
            "metadata.labels['a b']",
            "metadata.labels[a]",
            "metadata.labels['a'].b",
            "metadata.labels['Example.org/a']",
            f"metadata.labels['{LONG[:254]}/a']",
            f"metadata.annotations['{LONG[:254]}/a']",
            "metadata.annotations['a/b/c']",
            "metadata.name['a']",
            "metadataXname",
            "spec.host",
            "status.phase",
        ),
    ),
    "amounts": (
        f"{IN}.resources.limits.ephemeral-storage",
        (float("inf"), float("nan"), -0.5, True, [], {}, -1, "-1", "1 Gi", "1GB", "1e", "1e1000", "", "8" * 65),
    ),
    "ports": (f"{IN}.readinessProbe.tcpSocket.port", (0, -1, 65536, 8000.5, True, "", "8000", float("nan"))),
}


def _templates(table: Table) -> list[object]:
    return [
        pytest.param(edited(TEMPLATE, place, value), id=f"{name}: {value!r:.60}")
        for name, (place, values) in table.items()
        for value in values
    ]


@pytest.mark.parametrize("template", _templates(GOOD))
def test_what_is_sound_is_accepted(template: Object) -> None:
    assert podspec.read(template).faults == ()


@pytest.mark.parametrize("template", _templates(BAD))
def test_what_only_looks_sound_is_refused(template: Object) -> None:
    [fault] = podspec.read(template).faults

    assert fault.message
