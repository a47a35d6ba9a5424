"""The packages: what Crossplane finds in them, and that the same input gives the same bytes."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from function import clouds
from function.publish import generate
from function.publish.catalog import KINDS
from function.vocabulary import versions
from package import build, xpkg

pytestmark = pytest.mark.slow

CRDS = Path(__file__).parents[2] / "data/crds"
NO_FAMILY = ("nebius", "vultr")
"""Clouds with a single provider for all groups."""
RUNTIME_CONFIG = {
    "architecture": "amd64",
    "os": "linux",
    "config": {"Entrypoint": ["modelplane", "serve"], "User": "2000", "Labels": {"a": "b"}},
    "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(b"a tar").hexdigest()]},
    "history": [{"created_by": "COPY"}],
}


def files(path: Path) -> dict[str, bytes]:
    """What a tar holds, by name."""
    with tarfile.open(path) as archive:
        return {name: archive.extractfile(name).read() for name in archive.getnames()}


def written(image: xpkg.Image, folder: Path) -> Path:
    path = folder / "some.xpkg"
    xpkg.write(image, path)
    return path


def documents(package: Path) -> list[Any]:
    """What Crossplane reads: the stream in the layer that a label of the image calls the base."""
    found = files(package)
    [manifest] = json.loads(found["manifest.json"])
    labels = json.loads(found[manifest["Config"]])["config"]["Labels"]
    [digest] = [key.rpartition(":")[2] for key, value in labels.items() if value == "base"]
    with tarfile.open(fileobj=io.BytesIO(found[f"{digest}.tar.gz"])) as layer:
        assert layer.getnames() == ["package.yaml"]
        return list(yaml.safe_load_all(layer.extractfile("package.yaml").read()))


def runtime(folder: Path) -> Path:
    """An image as `docker save` writes it, with names as newer Dockers give them."""
    path = folder / "image.tar"
    config = json.dumps(RUNTIME_CONFIG).encode()
    entries = {
        "blobs/sha256/layer": b"a tar",
        "blobs/sha256/config": config,
        "manifest.json": json.dumps(
            [{"Config": "blobs/sha256/config", "RepoTags": ["f:1"], "Layers": ["blobs/sha256/layer"]}]
        ).encode(),
    }
    with tarfile.open(path, "w") as archive:
        for name, data in entries.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


def test_the_configuration_holds_its_meta_first_and_then_every_kind_twice(tmp_path: Path) -> None:
    meta, *objects = documents(written(xpkg.package(build.configuration()), tmp_path))

    want = {(kind, named.crd) for named in KINDS for kind in ("CompositeResourceDefinition", "Composition")}
    got = [(found["kind"], found["metadata"]["name"]) for found in objects]
    assert (meta["apiVersion"], meta["kind"]) == ("meta.pkg.crossplane.io/v1", "Configuration")
    assert set(got) == want | {("ManagedResourceActivationPolicy", "modelplane")}
    assert len(got) == len(set(got))


def test_the_function_package_holds_its_meta_alone(tmp_path: Path) -> None:
    [meta] = documents(written(xpkg.package(build.function()), tmp_path))

    want = {"crossplane": {"version": ">=v2.3.0-0"}, "capabilities": ["composition"]}
    assert (meta["kind"], meta["metadata"]["name"], meta["spec"]) == ("Function", "function-modelplane", want)


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        build.main(["--out", str(folder)])

    assert sorted(path.name for path in first.iterdir()) == [
        f"configuration-modelplane-v{build.version()}.xpkg",
        f"function-modelplane-v{build.version()}.xpkg",
        "runtime.yaml",
    ]
    assert [path.read_bytes() for path in sorted(first.iterdir())] == [
        path.read_bytes() for path in sorted(second.iterdir())
    ]


def test_every_digest_is_true(tmp_path: Path) -> None:
    found = files(written(xpkg.package(build.function()), tmp_path))

    [manifest] = json.loads(found["manifest.json"])
    [layer] = manifest["Layers"]
    config = json.loads(found[manifest["Config"]])
    assert manifest["Config"] == "sha256:" + hashlib.sha256(found[manifest["Config"]]).hexdigest()
    assert layer == hashlib.sha256(found[layer]).hexdigest() + ".tar.gz"
    assert config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(gzip.decompress(found[layer])).hexdigest()]
    assert len(config["history"]) == len(config["rootfs"]["diff_ids"])


def test_an_embedded_image_keeps_what_runs_it_and_lies_below(tmp_path: Path) -> None:
    packages = build.build(runtime=runtime(tmp_path))

    name = f"function-modelplane-v{build.version()}-linux-amd64.xpkg"
    package = written(packages[name], tmp_path)
    found = files(package)
    [manifest] = json.loads(found["manifest.json"])
    config = json.loads(found[manifest["Config"]])
    assert gzip.decompress(found[manifest["Layers"][0]]) == b"a tar"
    assert config["rootfs"]["diff_ids"][0] == RUNTIME_CONFIG["rootfs"]["diff_ids"][0]
    assert config["config"] == {
        **RUNTIME_CONFIG["config"],
        "Labels": {"a": "b", f"io.crossplane.xpkg:sha256:{manifest['Layers'][1].removesuffix('.tar.gz')}": "base"},
    }
    assert [document["kind"] for document in documents(package)] == ["Function"]


def test_what_is_no_image_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "other.tar"
    with tarfile.open(path, "w"):
        pass

    with path.open("rb") as file, pytest.raises(ValueError, match="not one image as `docker save` writes it"):
        xpkg.read(file)


@pytest.mark.parametrize(
    ("package", "want"),
    [
        ("xpkg.modelplane.ai/function-modelplane", "function-modelplane"),
        ("registry.example.org/org/function-modelplane", "org-function-modelplane"),
        ("127.0.0.1:5000/org/function-modelplane", "org-function-modelplane"),
        ("registry.example.org/a.b/Function_x", "a-b-unctionx"),
        ("registry.example.org/" + "a" * 70, "a" * 63),
    ],
)
def test_the_name_of_an_installed_function_is_that_of_its_repository(package: str, want: str) -> None:
    assert build.installed_name(package) == want


def test_compositions_call_the_function_by_the_name_that_the_dependency_gets() -> None:
    """Crossplane names what it installs for a dependency; a Composition that calls it otherwise finds nothing."""
    [dependency] = [d for d in build.configuration()[0]["spec"]["dependsOn"] if d["kind"] == "Function"]

    called = {
        step["functionRef"]["name"]
        for found in build.configuration()
        if found["kind"] == "Composition"
        for step in found["spec"]["pipeline"]
    }
    assert called == {versions.FUNCTION} == {build.installed_name(dependency["package"])}


def test_a_function_from_another_registry_is_called_by_its_other_name() -> None:
    meta, *objects = build.configuration("registry.example.org/team/function-modelplane")

    called = {
        found["spec"]["pipeline"][0]["functionRef"]["name"] for found in objects if found["kind"] == "Composition"
    }
    assert called == {"team-function-modelplane"}
    assert meta["spec"]["dependsOn"][0]["package"] == "registry.example.org/team/function-modelplane"


def test_the_configuration_depends_on_this_release_of_the_function_and_on_the_providers_of_what_it_composes() -> None:
    got = {
        d["package"].rpartition("/")[2]: (d["kind"], d["version"])
        for d in build.configuration()[0]["spec"]["dependsOn"]
    }

    want = {
        "function-modelplane": ("Function", f">=v{build.version()}"),
        "provider-kubernetes": ("Provider", ">=v1.3.0"),
        "provider-helm": ("Provider", ">=v1.4.0"),
        **{package.package.rpartition("/")[2]: ("Provider", package.version) for package in clouds.packages()},
    }
    assert got == want


@pytest.mark.parametrize("provisioner", clouds.PROVISIONERS, ids=lambda provisioner: provisioner.model.KIND)
def test_a_cloud_depends_on_exactly_the_providers_of_its_kinds(provisioner: clouds.Provisioner) -> None:
    """provider-aws-eks has the group eks.aws.m.upbound.io, and provider-family-azure azure.m.upbound.io (upjet v2)."""
    of_cloud = provisioner.provider.partition("/")[0]
    cloud = of_cloud.partition(".")[0]
    groups = {kind.api_version.partition("/")[0] for kind in provisioner.managed}
    wanted = {
        f"provider-{cloud}-{group.removesuffix(f'.{of_cloud}')}" if group != of_cloud else f"provider-family-{cloud}"
        for group in groups
    }
    names = {package.package.rpartition("/")[2] for package in provisioner.packages}

    assert names == ({f"provider-{cloud}"} if cloud in NO_FAMILY else wanted)


def test_all_providers_of_a_family_are_from_one_registry() -> None:
    """They depend on the family's provider of their own registry, and Crossplane would install two of it."""
    registries: dict[str, set[str]] = {}
    for package in clouds.packages():
        registry, _, name = package.package.rpartition("/")
        registries.setdefault(
            name.removeprefix("provider-family-").removeprefix("provider-").partition("-")[0], set()
        ).add(registry)

    assert all(len(found) == 1 for found in registries.values()), registries


def test_no_provider_is_a_dependency_twice() -> None:
    """Two clouds that name one provider must want the same version of it."""
    packages = [d["package"] for d in build.configuration()[0]["spec"]["dependsOn"]]

    assert len(packages) == len(set(packages))


def test_the_activation_policy_is_one_to_crossplane() -> None:
    schema = json.loads(
        (CRDS / "apiextensions.crossplane.io_v1alpha1_ManagedResourceActivationPolicy.json").read_text()
    )["schema"]

    jsonschema.validate(yaml.safe_load(generate.files()["package/configuration/activation.yaml"]), schema)
