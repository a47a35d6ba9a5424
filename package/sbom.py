"""The software bill of materials of a release, as CycloneDX 1.6 in JSON: `python -m package.sbom`, or `make sbom`.

It lists what the function's image contains (our package, its Python distributions with the hashes of the lock, the base
image) and what Modelplane has other programs run: the images and charts that it composes, the CRDs that it carries, and
the providers of the Configuration. Everything is derived from where it is used: the lock, the Dockerfile, the modules
that name images and charts. The same input gives the same bytes: it has no time, and its serial number is derived.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import pkgutil
import re
import sys
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
from packaging.markers import Marker

import function
from function.publish import runtime
from function.vocabulary import versions
from function.vocabulary.charts import Chart
from package import build, licenses, locks
from package.locks import Locked

FILE = "sbom.cdx.json"
OURS = "function-modelplane"
ROLE = "modelplane:role"
"""Property that says why a component is listed."""
CONTAINED, COMPOSED = "in the image", "composed on clusters"
_SPACE = uuid.UUID("5f3d2f0e-3a52-5d19-9c1a-6d1f6c0f8f6b")
"""Namespace of serial numbers. It only has to be the same every time."""
_INDEX = "https://pypi.org/simple"
_HUB = "docker.io"
_ENVIRONMENT = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "platform_machine": "x86_64"}
"""The image's environment, by variables of PEP 508. Its Python is the base image's."""
_LICENSES = LicenseFactory()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m package.sbom", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=locks.ROOT / "dist", help="folder to write to (default: dist)")
    parser.add_argument("--base-image", metavar="IMAGE", help="what the image was built from, if not by its default")
    options = parser.parse_args(arguments)
    try:
        text = document(options.base_image)
    except (licenses.Unknown, ValueError) as problem:
        print(problem, file=sys.stderr)  # noqa: T201  (a program's output)
        return 1
    path = options.out / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(path)  # noqa: T201
    return 0


def document(base: str | None = None) -> str:
    """Return the bill of materials of an image that was built from a base image, the Dockerfile's if none is given.

    Raises ValueError if it is not valid by CycloneDX's schema.
    """
    bom = materials(base or base_image())
    found = json.loads(JsonV1Dot6(bom).output_as_string())
    found["metadata"].pop("timestamp", None)
    found["serialNumber"] = f"urn:uuid:{uuid.uuid5(_SPACE, _text(found | {'serialNumber': None}))}"
    text = _text(found)
    if problem := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise ValueError(f"not valid by the schema of CycloneDX 1.6: {problem}")
    return text


def materials(base_image: str) -> Bom:
    """Return the components, and which of them depend on which."""
    bom = Bom()
    image = bom.metadata.component = _container(f"{runtime.FUNCTION_PACKAGE}:v{build.version()}")
    ours = _ours()
    distributions = {one.name: (one, _distribution(one)) for one in locks.read(locks.IMAGE)}
    base = _container(base_image, CONTAINED)
    for component in (ours, base, *(each for _, each in distributions.values()), *composed()):
        bom.components.add(component)
    bom.register_dependency(image, [ours, base])
    for name, component in [(OURS, ours), *((name, each) for name, (_, each) in distributions.items())]:
        bom.register_dependency(component, [each for one, each in distributions.values() if name in one.via])
    return bom


def composed() -> Iterator[Component]:
    """Yield what is not in the image, and what Modelplane has others pull and run."""
    for image in images():
        yield _container(image, COMPOSED)
    for chart in charts():
        yield _chart(chart)
    for name, folder in bundles():
        yield _bundle(name, folder)
    for dependency in build.configuration()[0]["spec"]["dependsOn"]:
        if dependency["kind"] != build.FUNCTION:
            yield _provider(dependency["package"], dependency["version"])


# What there is


def base_image() -> str:
    """Return the image that the Dockerfile builds on by default."""
    text = (locks.ROOT / "Dockerfile").read_text(encoding="utf-8")
    [image] = re.findall(r"^ARG BASE=(\S+)$", text, re.MULTILINE)
    return str(image)


def images() -> list[str]:
    """Return every image that a module of ours names as a constant in capitals, except our own."""
    found = {
        value
        for module in _modules()
        for name, value in vars(module).items()
        if isinstance(value, str) and re.fullmatch(r"[a-z0-9.-]+\.[a-z]+/[^:@\s]+:[^:\s]+", value) and name.isupper()
    }
    return sorted(one for one in found if one != versions.HYDRATE_IMAGE)


def charts() -> list[Chart]:
    """Return every chart that a module of ours names."""
    found = {value for module in _modules() for value in vars(module).values() if isinstance(value, Chart)}
    return sorted(found, key=lambda chart: chart.name)


def bundles() -> list[tuple[str, Path]]:
    """Return the folders of CRDs in our package, each with the name of its module."""
    root = Path(function.__path__[0])
    folders = sorted(path for path in root.rglob("crds") if path.is_dir())
    return [(".".join(folder.relative_to(root.parent).parts), folder) for folder in folders]


def _modules() -> Iterator[ModuleType]:
    """Yield the modules with versions and the tables of charts, and those that make manifests."""
    for package in ("vocabulary", "clouds", "gateways", "manifests", "kinds", "observe"):
        root = importlib.import_module(f"function.{package}")
        yield root
        for found in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
            yield importlib.import_module(found.name)


# As components


def _ours() -> Component:
    return Component(
        name=OURS,
        type=ComponentType.APPLICATION,
        version=build.version(),
        bom_ref=f"pkg:pypi/{OURS}@{build.version()}",
        purl=PackageURL("pypi", None, OURS, build.version()),
        licenses=[_LICENSES.make_from_string("Apache-2.0")],
        properties=[Property(name=ROLE, value=CONTAINED)],
    )


def _distribution(locked: Locked) -> Component:
    """A distribution of the lock. One that is not installed in the image, by its marker, has the scope `excluded`.

    The hashes are those of its files on the index, of which each platform installs one.
    """
    purl = PackageURL("pypi", None, locked.name, locked.version)
    reference = ExternalReference(
        type=ExternalReferenceType.DISTRIBUTION,
        url=XsUri(f"{_INDEX}/{locked.name}/"),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest) for digest in locked.hashes],
    )
    return Component(
        name=locked.name,
        type=ComponentType.LIBRARY,
        version=locked.version,
        bom_ref=purl.to_string(),
        purl=purl,
        scope=ComponentScope.REQUIRED if is_in_image(locked) else ComponentScope.EXCLUDED,
        licenses=[_LICENSES.make_from_string(licenses.expression(locked))],
        external_references=[reference],
        properties=[Property(name=ROLE, value=CONTAINED)] if is_in_image(locked) else [],
    )


def is_in_image(locked: Locked) -> bool:
    """Return whether a distribution's marker holds in the image."""
    version = re.sub(r"^.*:(\d+\.\d+).*$", r"\1", base_image())
    environment = {**_ENVIRONMENT, "python_version": version, "python_full_version": f"{version}.0"}
    return not locked.marker or Marker(locked.marker).evaluate(environment)


def _container(image: str, role: str = "") -> Component:
    """An image by its name, `REPOSITORY:TAG` and perhaps `@sha256:DIGEST`.

    purl's type `docker` has the registry as a qualifier, and none for Docker Hub; its version is the digest if known.
    """
    named, _, digest = image.partition("@sha256:")
    repository, _, tag = named.rpartition(":")
    registry, _, path = repository.rpartition("/")[0].partition("/") if "." in repository else (_HUB, "", "library")
    name = repository.rpartition("/")[2]
    qualifiers = {} if registry == _HUB else {"repository_url": registry}
    purl = PackageURL("docker", path or None, name, f"sha256:{digest}" if digest else tag, qualifiers)
    return Component(
        name=repository,
        type=ComponentType.CONTAINER,
        version=tag,
        bom_ref=purl.to_string(),
        purl=purl,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)] if digest else [],
        properties=[Property(name=ROLE, value=role)] if role else [],
    )


def _chart(chart: Chart) -> Component:
    return Component(
        name=chart.name,
        group="helm",
        type=ComponentType.APPLICATION,
        version=chart.version,
        bom_ref=f"helm:{chart.name}@{chart.version}",
        external_references=[
            ExternalReference(type=ExternalReferenceType.DISTRIBUTION, url=XsUri(chart.repository)),
        ],
        properties=[Property(name=ROLE, value=COMPOSED)],
    )


def _bundle(name: str, folder: Path) -> Component:
    """CRDs in our package, with the hash of their contents in the order of their names."""
    files = sorted(folder.glob("*.json"))
    content = hashlib.sha256(b"".join(path.name.encode() + path.read_bytes() for path in files)).hexdigest()
    readme = (folder / "README.md").read_text(encoding="utf-8")
    source = re.search(r"(?P<repository>[\w-]+/[\w-]+) (?P<version>v\d[\w.-]*)", readme)
    assert source, f"{folder}/README.md names no repository and version"
    return Component(
        name=source["repository"],
        group="crds",
        type=ComponentType.DATA,
        version=source["version"],
        bom_ref=f"crds:{name}",
        description=f"CRDs in {name}",
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=content)],
        licenses=[_LICENSES.make_from_string("Apache-2.0")],
        properties=[Property(name=ROLE, value=CONTAINED)],
    )


def _provider(package: str, accepted: str) -> Component:
    """A provider of Crossplane. The user's Crossplane chooses a version of the accepted ones."""
    return Component(
        name=package,
        group="crossplane",
        type=ComponentType.APPLICATION,
        bom_ref=f"crossplane:{package}",
        properties=[Property(name=ROLE, value=COMPOSED), Property(name="modelplane:versions", value=accepted)],
    )


def _text(value: object) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(main())
