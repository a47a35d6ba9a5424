"""Metadata, sizes, and values of a wrong type."""

from __future__ import annotations

from tests.support.samples import TEMPLATE, edited

_KEY = (
    "must have a key that is a label key: up to 63 letters, digits, dashes, dots and underscores, alone or after a DNS"
    " name of up to 253 characters and a slash"
)
_VALUE = (
    "must be a label value: letters, digits, dashes, dots and underscores, a letter or digit at both ends (up to 63"
    " characters), not"
)
_LONG = "and may have 327680; mount what is longer from a file of the image"
_ANNOTATIONS = "metadata.annotations: may have 253952 bytes together, keys and values, not"
_DELETION = "controller.kubernetes.io/pod-deletion-cost"

GOOD = {
    "nulls, which the API server drops": edited(TEMPLATE, "spec.containers.0.args", None),
    "annotations of 240 KiB": edited(TEMPLATE, "metadata.annotations", {f"note-{i}": "x" * 30720 for i in range(8)}),
    "no metadata": edited(TEMPLATE, "metadata"),
    "an annotation with capitals in its domain": edited(TEMPLATE, "metadata.annotations", {"Example.org/A": ""}),
}

BAD = {
    "a template that is none": ("qwen", ": must be a map of fields, not a string"),
    "a template without a spec": (edited(TEMPLATE, "spec"), "spec: is required"),
    "a label of Modelplane": (
        edited(TEMPLATE, "metadata.labels", {"modelplane.ai/pool": "x"}),
        'metadata.labels["modelplane.ai/pool"]: is under modelplane.ai/, which Modelplane sets itself',
    ),
    "an annotation of Modelplane": (
        edited(TEMPLATE, "metadata.annotations", {"modelplane.ai/a": "x"}),
        'metadata.annotations["modelplane.ai/a"]: is under modelplane.ai/, which Modelplane sets itself',
    ),
    "a label of llm-d": (
        edited(TEMPLATE, "metadata.labels", {"llm-d.ai/role": "decode"}),
        'metadata.labels["llm-d.ai/role"]: is under llm-d.ai/, which Modelplane or the controller of the pods sets',
    ),
    "a label key with a space": (
        edited(TEMPLATE, "metadata.labels", {"a b": "x"}),
        f'metadata.labels["a b"]: {_KEY}',
    ),
    "a label value with a space": (
        edited(TEMPLATE, "metadata.labels", {"a": "b c"}),
        f'metadata.labels.a: {_VALUE} "b c"',
    ),
    "a label that is a number": (
        edited(TEMPLATE, "metadata.labels", {"a": 1}),
        "metadata.labels.a: must be a string; numbers and yes, no, true and false are written in quotes, not 1",
    ),
    "annotations of 300 KiB": (
        edited(TEMPLATE, "metadata.annotations", {f"note-{i}": "x" * 30720 for i in range(10)}),
        f"{_ANNOTATIONS} 307260",
    ),
    "annotations of 300 KiB in few characters": (
        edited(TEMPLATE, "metadata.annotations", {f"note-{i}": "\u20ac" * 20480 for i in range(5)}),
        f"{_ANNOTATIONS} 307230",
    ),
    "a cost of deletion that is no number": (
        edited(TEMPLATE, "metadata.annotations", {_DELETION: "low"}),
        f'metadata.annotations["{_DELETION}"]: must be a whole number from -2147483648 to 2147483647, not a string',
    ),
    "a cost of deletion of thousands of digits": (
        edited(TEMPLATE, "metadata.annotations", {_DELETION: "9" * 5000}),
        f'metadata.annotations["{_DELETION}"]: must be a whole number from -2147483648 to 2147483647, not a string',
    ),
    "more arguments than an object holds": (
        edited(TEMPLATE, "spec.containers.0.args", ["x" * 32768] * 11),
        f": has 361531 bytes as JSON, {_LONG}",
    ),
    "longer probes than an object holds": (
        edited(TEMPLATE, "spec.containers.0.livenessProbe.exec.command", ["x" * 32768] * 11),
        f": has 361538 bytes as JSON, {_LONG}",
    ),
}
