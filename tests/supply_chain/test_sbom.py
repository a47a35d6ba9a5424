"""The software bill of materials names all that a release contains and composes."""

import json
import re
from collections import Counter
from typing import Any

import pytest

from package import build, locks, sbom

ROOT = locks.ROOT
EXAMPLES = re.compile(
    r"vllm|sglang|text-generation|text-embeddings|example\.org|metrics:|installer|function-modelplane"
)
"""Images of golden cases that their manifests name, and our own."""


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def document() -> str:
    return sbom.document()


@pytest.fixture(scope="module")
def golden() -> str:
    return "".join(path.read_text() for path in sorted((ROOT / "tests/golden").rglob("*.yaml")))


@pytest.fixture(scope="module")
def components(document: str) -> list[dict[str, Any]]:
    return list(json.loads(document)["components"])


def test_the_same_input_gives_the_same_bytes(document: str) -> None:
    assert sbom.document() == document
    assert "timestamp" not in json.loads(document)["metadata"]


def test_the_schema_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document that is wrong is not written."""
    monkeypatch.setattr(sbom, "_text", lambda value: json.dumps({**value, "specVersion": "1.6", "components": 1}))
    with pytest.raises(ValueError, match=r"not valid by the schema of CycloneDX 1\.6"):
        sbom.document()


def test_every_distribution_of_the_lock_is_listed_once_with_its_hashes(components: list[dict[str, Any]]) -> None:
    listed = [one for one in components if one.get("purl", "").startswith("pkg:pypi/") and one["name"] != sbom.OURS]
    want = {one.name: (one.version, sorted(one.hashes)) for one in locks.read(locks.IMAGE)}
    got = {
        one["name"]: (one["version"], sorted(each["content"] for each in one["externalReferences"][0]["hashes"]))
        for one in listed
    }
    assert got == want
    assert set(Counter(one["name"] for one in listed).values()) == {1}
    assert all(one["licenses"] for one in listed)


def test_what_the_image_leaves_out_is_told(components: list[dict[str, Any]]) -> None:
    """Distributions of other platforms are in the lock, and not in the image."""
    assert {one["name"] for one in components if one.get("scope") == "excluded"} == {"colorama", "httpx2-jsfetch"}


def test_dependencies_lead_to_every_distribution(document: str) -> None:
    found = json.loads(document)
    depends = {one["ref"]: one.get("dependsOn", []) for one in found["dependencies"]}
    reached, left = set(), [found["metadata"]["component"]["bom-ref"]]
    while left:
        ref = left.pop()
        if ref not in reached:
            reached.add(ref)
            left += depends[ref]
    libraries = {one["bom-ref"] for one in found["components"] if one["type"] == "library"}
    assert libraries <= reached


def test_every_composed_image_is_listed(components: list[dict[str, Any]], golden: str) -> None:
    """What golden cases compose, except for what their own manifests name."""
    found = re.findall(r"\bimage: ['\"]?([a-z][^\s'\"]+:[^\s'\"]+)", golden)
    composed = {one for one in found if not EXAMPLES.search(one)}
    listed = {f"{one['name']}:{one['version']}" for one in components if one["type"] == "container"}
    assert composed
    assert composed <= listed


def test_every_chart_and_provider_is_listed(components: list[dict[str, Any]], golden: str) -> None:
    listed = {(one.get("group"), one["name"]) for one in components}
    charts = set(re.findall(r"chart:\n +name: (\S+)", golden))
    assert charts
    assert {("helm", name) for name in charts} <= listed
    needed = build.configuration()[0]["spec"]["dependsOn"]
    assert {("crossplane", one["package"]) for one in needed if one["kind"] == "Provider"} <= listed


def test_the_base_image_is_that_of_the_dockerfile(components: list[dict[str, Any]]) -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert [line for line in lines if line.startswith("FROM ")] == ["FROM ${BASE} AS build", "FROM ${BASE}"]
    assert sbom.base_image() in {f"{one['name']}:{one.get('version')}" for one in components}


@pytest.mark.parametrize(
    ("image", "purl"),
    [
        ("python:3.13-slim", "pkg:docker/library/python@3.13-slim"),
        ("python:3.13-slim@sha256:" + "0" * 64, "pkg:docker/library/python@sha256:" + "0" * 64),
        ("docker.io/envoyproxy/envoy:v1", "pkg:docker/envoyproxy/envoy@v1"),
        ("ghcr.io/llm-d/router:v0", "pkg:docker/llm-d/router@v0?repository_url=ghcr.io"),
        ("registry.k8s.io/pause:3.10", "pkg:docker/pause@3.10?repository_url=registry.k8s.io"),
    ],
)
def test_images_are_named_as_purl_names_them(image: str, purl: str) -> None:
    assert sbom._container(image).purl.to_string() == purl


def test_settings_of_images_have_a_component(components: list[dict[str, Any]]) -> None:
    """Guards the discovery by name: what versions.py calls an image is listed."""
    from function.vocabulary import versions

    images = {value for name, value in vars(versions).items() if name.endswith("_IMAGE")}
    listed = {f"{one['name']}:{one['version']}" for one in components if one["type"] == "container"}
    assert images - {versions.HYDRATE_IMAGE} <= listed
