"""Which model names a replica answers to, and endpoints that have none in common."""

from __future__ import annotations

from typing import Any

import pytest

from function.fleet import served_names
from function.vocabulary import labels
from tests.support.engine_containers import OTHER, SGLANG, VLLM, container


def engine(*args: str, runtime: str | None = None, **fields: Any) -> dict[str, Any]:
    template = {"spec": {"containers": [container(*args, **fields)]}}
    return {"name": "e", "members": [{"template": template}], **({"runtime": runtime} if runtime else {})}


def gang(leader: str, worker: str) -> dict[str, Any]:
    written = [("Leader", leader), ("Worker", worker)]
    members = [{"role": r, "template": {"spec": {"containers": [container(f"--model={m}")]}}} for r, m in written]
    return {"name": "e", "members": members}


def sidecar() -> dict[str, Any]:
    given = engine("org/m")
    given["members"][0]["template"]["spec"]["containers"].insert(0, {"name": "proxy", "image": "envoy"})
    return given


NAMES = [
    ([engine("org/m")], None, ("org/m",)),
    ([engine("org/m", "--served-model-name", "a", "b")], None, ("a", "b")),
    ([engine("org/m", image=OTHER)], None, ()),
    ([engine("org/m", image=OTHER, runtime="vLLM")], None, ("org/m",)),
    ([engine("org/m", runtime=5)], None, ("org/m",)),
    ([engine("sglang", "serve", "m", image=SGLANG)], None, ()),
    ([gang("org/m", "org/n")], None, ("org/m",)),
    ([sidecar()], None, ("org/m",)),
    ([engine("--port=1")], None, ()),
    ([engine("--port=1")], "org/cached", ("org/cached",)),
    ([engine("--served-model-name=a")], "org/cached", ("a",)),
    ([engine("--model=org/m")], "org/cached", ("org/m",)),
    ([engine()], "", ("/mnt/models",)),
    (
        [engine("org/m", "--served-model-name", "a", "b"), engine("org/m", "--served-model-name", "b", "a")],
        None,
        ("a", "b"),
    ),
    ([engine("org/m", "--served-model-name", "a", "b"), engine("org/m", "--served-model-name", "b")], None, ("b",)),
    ([engine("org/m"), engine("org/n")], None, ()),
    ([engine("org/m"), engine("org/m", image=OTHER)], None, ()),
    ([], None, ()),
    (None, None, ()),
    ([5, {"members": [5]}, {"members": [{"template": {"spec": {"containers": [5]}}}]}], None, ()),
]


@pytest.mark.parametrize(("engines", "repository", "want"), NAMES)
def test_a_name_counts_if_every_engine_answers_to_it(engines: Any, repository: str | None, want: Any) -> None:
    """With the name that an engine on a cache is given."""
    assert served_names.of_engines(engines, repository) == want


def test_names_are_written_on_endpoints_and_read_back() -> None:
    noted = served_names.annotation(["a", "org/b"])
    assert noted == {labels.SERVED_NAMES: "a,org/b"}
    assert served_names.of_endpoint({"metadata": {"annotations": noted}}) == ("a", "org/b")
    assert served_names.of_endpoint({"metadata": {"annotations": {labels.SERVED_NAMES: " a , ,b"}}}) == ("a", "b")
    assert served_names.of_endpoint({"metadata": {"annotations": {labels.SERVED_NAMES: 5}}}) == ()
    assert served_names.of_endpoint({"metadata": {}}) == ()


def test_names_that_cannot_be_written_are_not() -> None:
    assert (
        served_names.annotation([]) == served_names.annotation(["a,b"]) == served_names.annotation(["a" * 3000]) == {}
    )


DIFFERING = [
    ([("x", ("a",)), ("y", ("a", "b"))], ""),
    ([("x", ("a",)), ("y", ())], ""),
    ([], ""),
    ([("x", ("a",)), ("y", ("b",))], 'x to "a", y to "b"'),
    ([("x", ("a",)), ("y", ("b", "c")), ("z", ("a",))], 'x, z to "a", y to "b", "c"'),
    ([("x", ("a", "b")), ("y", ("b", "c")), ("z", ("a", "c"))], 'x to "a", "b", y to "b", "c", z to "a", "c"'),
    ([(f"e{i}", (f"m{i}",)) for i in range(6)], 'e0 to "m0", e1 to "m1", e2 to "m2" and 3 more'),
]


@pytest.mark.parametrize(("servers", "want"), DIFFERING)
def test_servers_without_a_common_name_are_named(servers: Any, want: str) -> None:
    """One of which nothing is known agrees with all others."""
    assert served_names.differing(servers) == want


def test_the_image_alone_is_no_name() -> None:
    assert served_names.of_engines([engine(image=VLLM)], None) == ()
