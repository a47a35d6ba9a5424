"""Build both packages, and the manifest of how they run: `python -m package.build`, or `make package`.

configuration-modelplane holds the definitions and Compositions; function-modelplane what they call. A package of a
function is also the image that runs it: give the one that `docker build` made, saved by `docker save`, as
--embed-runtime-image-tarball. Without it the package names no program, and a DeploymentRuntimeConfig must.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from function import clouds
from function.publish import generate, runtime
from package import xpkg

ROOT = Path(__file__).parent.parent
FUNCTION = "Function"
_LONGEST_NAME = 63


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    for path, image in build(options.function_package, options.embed_runtime_image_tarball).items():
        xpkg.write(image, options.out / path)
        print(options.out / path)  # noqa: T201  (a program's output)
    print(write_runtime(options.out, options.function_package))  # noqa: T201
    if options.embed_runtime_image_tarball is None:
        print("function: no program inside; --embed-runtime-image-tarball puts it there", file=sys.stderr)  # noqa: T201


def write_runtime(out: Path, function_package: str | None) -> Path:
    """Write package/runtime.yaml for the place that the Function is pulled from."""
    path = out / "runtime.yaml"
    path.write_text(generate.documents(runtime.manifests(function_package or runtime.FUNCTION_PACKAGE)), "utf-8")
    return path


def build(function_package: str | None = None, runtime: Path | None = None) -> dict[str, xpkg.Image]:
    """Both packages, by the names of their files."""
    image = _image(runtime)
    platform = f"-{image.config['os']}-{image.config['architecture']}" if image else ""
    return {
        f"configuration-modelplane-v{version()}.xpkg": xpkg.package(configuration(function_package)),
        f"function-modelplane-v{version()}{platform}.xpkg": xpkg.package(function(), image),
    }


def configuration(function_package: str | None = None) -> list[dict[str, Any]]:
    """What the Configuration holds; its Function may be pulled from another place than ours."""
    meta = _document(ROOT / "package/configuration/crossplane.yaml")
    [dependency] = [d for d in meta["spec"]["dependsOn"] if d["kind"] == FUNCTION]
    dependency["package"] = function_package or dependency["package"]
    meta["spec"]["dependsOn"] += [_provider(package) for package in clouds.packages()]
    name = installed_name(dependency["package"])
    return [meta, *(_calling(name, manifest) for manifest in _objects())]


def _provider(package: clouds.Package) -> dict[str, str]:
    return {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Provider",
        "package": package.package,
        "version": package.version,
    }


def function() -> list[dict[str, Any]]:
    """What the Function package holds."""
    return [_document(ROOT / "package/function/crossplane.yaml")]


def installed_name(package: str) -> str:
    """The name of the Function that Crossplane installs for a package: its repository without the registry, as a DNS
    label (crossplane v2.3, internal/controller/pkg/resolver, and crossplane-runtime v2.4, pkg/xpkg/name.go)."""
    repository = package.partition("/")[2]
    return re.sub("[./:-]", "-", re.sub("[^a-z0-9./:-]", "", repository[:_LONGEST_NAME])).strip("-")


def version() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])


def _objects() -> Iterator[dict[str, Any]]:
    yield _document(ROOT / "package/configuration/activation.yaml")
    for folder in ("compositions", "xrds"):
        for path in sorted((ROOT / folder).glob("*.yaml")):
            yield _document(path)


def _calling(function: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A Composition that calls the Function by the name that it will have; any other object as it is."""
    if manifest["kind"] != "Composition":
        return dict(manifest)
    spec = manifest["spec"]
    steps = [{**step, "functionRef": {"name": function}} for step in spec["pipeline"]]
    return {**manifest, "spec": {**spec, "pipeline": steps}}


def _document(path: Path) -> dict[str, Any]:
    [manifest] = yaml.safe_load_all(path.read_text(encoding="utf-8"))
    assert isinstance(manifest, dict), path
    return manifest


def _image(tarball: Path | None) -> xpkg.Image | None:
    if tarball is None:
        return None
    with tarball.open("rb") as file:
        return xpkg.read(file)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m package.build", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder to write to (default: dist)")
    parser.add_argument(
        "--embed-runtime-image-tarball",
        type=Path,
        metavar="FILE",
        help="the function's image, as docker save writes it",
    )
    parser.add_argument(
        "--function-package",
        metavar="REGISTRY/REPOSITORY",
        help="where the Function is pulled from, if not from where package/configuration/crossplane.yaml says; "
        "Compositions then call it by the name that Crossplane gives it",
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
