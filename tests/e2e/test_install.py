"""Our packages, installed by Crossplane's own package manager from a registry."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from function.publish.catalog import KINDS
from function.vocabulary import versions
from package import build, xpkg
from tests.e2e import fleet, objects, pins, programs, registry
from tests.e2e.kube import Api, Object, says
from tests.e2e.processes import ports
from tests.e2e.programs import Site
from tests.e2e.waiting import until

PACKAGES = "pkg.crossplane.io/v1"
CONFIGURATION = "xpkg.modelplane.ai/configuration-modelplane"
CLASS = "inferenceclasses.modelplane.ai"
PROVIDERS = tuple(one for one in build.configuration()[0]["spec"]["dependsOn"] if one["kind"] == "Provider")
REGISTRIES = sorted({CONFIGURATION.partition("/")[0], *(one["package"].partition("/")[0] for one in PROVIDERS)})


@dataclass(frozen=True, slots=True)
class Installed:
    """A control cluster on which nothing but the Configuration was installed."""

    api: Api
    configuration: Object


@pytest.fixture(scope="module", params=pins.CROSSPLANES)
def installed(request: pytest.FixtureRequest, site: Site, store: int) -> Iterator[Installed]:
    before = tuple(site.processes.running)
    name = f"packages-{request.param}"
    try:
        with registry.serving(images()) as host:
            (site.folder / name / "xpkg").mkdir(parents=True)  # Crossplane pulls packages into it, and does not make it
            api = programs.api_server(site, name, store)
            programs.crossplane(site, name, request.param, api)
            api.apply(*(rewritten(prefix, host) for prefix in REGISTRIES))
            yield Installed(api, install(api))
    finally:
        site.processes.stop(*(one for one in site.processes.running if one not in before))


def images() -> dict[str, xpkg.Image]:
    """Our packages, and providers that bring nothing: it is their being there that is depended on."""
    tag = f"v{build.version()}"
    ours = {
        f"configuration-modelplane:{tag}": xpkg.package(build.configuration()),
        f"function-modelplane:{tag}": xpkg.package(build.function()),
    }
    return ours | {
        f"{repository(one)}:{oldest(one)}": xpkg.package([provider(repository(one).rpartition("/")[2])])
        for one in PROVIDERS
    }


def repository(dependency: Object) -> str:
    """Where a dependency is, without the registry."""
    return str(dependency["package"].partition("/")[2])


def oldest(dependency: Object) -> str:
    """The oldest version that a dependency may have, such as v1.3.0 of `>=v1.3.0,<v2.0.0`."""
    return str(dependency["version"].partition(",")[0].removeprefix(">="))


def provider(name: str) -> Object:
    return {"apiVersion": "meta.pkg.crossplane.io/v1", "kind": "Provider", "metadata": {"name": name}, "spec": {}}


def rewritten(prefix: str, host: str) -> Object:
    """What docs/install.md shows: pull from elsewhere, and keep all names."""
    return {
        "apiVersion": "pkg.crossplane.io/v1beta1",
        "kind": "ImageConfig",
        "metadata": {"name": prefix},
        "spec": {"matchImages": [{"type": "Prefix", "prefix": prefix}], "rewriteImage": {"prefix": host}},
    }


def install(api: Api) -> Object:
    configuration: dict[str, Any] = {
        "apiVersion": PACKAGES,
        "kind": "Configuration",
        "metadata": {"name": "configuration-modelplane"},
        "spec": {"package": f"{CONFIGURATION}:v{build.version()}"},
    }
    api.apply(configuration)
    installed = functools.partial(api.current, configuration)
    return until(installed, "the Configuration to be installed", holds=lambda one: says(one, "Installed"))


def test_the_kinds_and_their_compositions_are_there(installed: Installed) -> None:
    wanted = {kind.crd for kind in KINDS}

    until(lambda: established(installed.api), "every kind to be served", holds=wanted.__eq__)
    compositions = installed.api.list(versions.COMPOSITION, "Composition")
    assert {one["metadata"]["name"] for one in compositions} == wanted


def test_dependencies_come_along_and_the_function_has_the_name_that_compositions_call(installed: Installed) -> None:
    def functions() -> set[str]:
        return {one["metadata"]["name"] for one in installed.api.list(PACKAGES, "Function")}

    def providers() -> set[str]:
        return {one["metadata"]["name"] for one in installed.api.list(PACKAGES, "Provider")}

    until(lambda: functions() == {versions.FUNCTION}, "the Function")
    until(lambda: providers() == {repository(one).replace("/", "-") for one in PROVIDERS}, "the providers")


def test_what_was_installed_answers(installed: Installed, site: Site) -> None:
    """The function runs outside; Crossplane calls it through the revision that its package manager made."""
    (port,) = ports(1)
    programs.function(site, "packages", port)
    [revision] = until(
        lambda: installed.api.list(PACKAGES, "FunctionRevision"), "a revision of the Function", holds=len
    )
    installed.api.patch(
        revision, {"status": {"endpoint": f"127.0.0.1:{port}", "capabilities": ["composition"]}}, "status"
    )
    one = objects.inference_class(fleet.H100)
    until(lambda: established(installed.api), "InferenceClass to be served", holds=lambda seen: CLASS in seen)

    installed.api.apply(one)

    ready = until(
        functools.partial(installed.api.current, one),
        "the class to be Ready",
        holds=lambda seen: says(seen, "Ready"),
    )
    assert ready["status"]["devices"] == "8 gpu"


def established(api: Api) -> set[str]:
    """The kinds of ours that Crossplane serves."""
    definitions = api.list(versions.XRD, "CompositeResourceDefinition")
    return {one["metadata"]["name"] for one in definitions if says(one, "Established")}
