"""Write the generated files: definitions, Compositions, RBAC, and the API reference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import yaml

from function.publish import (
    access,
    admission,
    cluster_access,
    provider_access,
    providers,
    reference,
    rejections,
    roles,
    runbooks,
    runtime,
    state_metrics,
    xrd,
)
from function.publish.catalog import KINDS, Kind

FOLDERS = ("xrds", "compositions", "docs/reference")
"""Folders that hold generated files, and no others."""
COMMANDS = ("Commands, options and exit codes", "commands.md")
"""The page about the command line, which writes it itself."""
_PAGES = (COMMANDS, (rejections.TITLE, rejections.PAGE), (providers.TITLE, providers.PAGE))
"""Pages of the reference that are not of a kind."""
_NONE: Mapping[str, str] = MappingProxyType({})
_HEAD = "# Written by `modelplane generate` from {path}.py. Edit that.\n"

_ACCESS_HEAD = "# Written by `modelplane generate` from function/publish/access.py. Edit that.\n"
_ROLES_HEAD = "# Written by `modelplane generate` from function/publish/roles.py. Edit that.\n"
_STATE_HEAD = "# Written by `modelplane generate` from function/publish/state_metrics.py. Edit that.\n"
_ADMISSION_HEAD = "# Written by `modelplane generate` from function/publish/admission.py. Edit that.\n"
_RUNTIME_HEAD = "# Written by `modelplane generate` from function/publish/runtime.py. Edit that.\n"
_CLUSTER_ACCESS_HEAD = "# Written by `modelplane generate` from function/publish/cluster_access.py. Edit that.\n"
_PROVIDERS_HEAD = "# Written by `modelplane generate` from function/publish/provider_access.py. Edit that.\n"


class Stale(NamedTuple):
    """A generated file that differs from what would be generated now."""

    path: str
    problem: str


@cache
def files() -> Mapping[str, str]:
    """Return every generated file: its path in the repository, and its content."""
    return MappingProxyType(dict(_files()))


def write(root: Path, others: Mapping[str, str] = _NONE) -> list[str]:
    """Bring the generated files of a repository up to date. Return the paths that changed.

    Args:
        root: The repository.
        others: Files that are not generated from the models, by path.
    """
    stale = check(root, others)
    wanted = {**files(), **others}
    for path, _ in stale:
        if path in wanted:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(wanted[path], encoding="utf-8")
        else:
            (root / path).unlink()
    return [path for path, _ in stale]


def check(root: Path, others: Mapping[str, str] = _NONE) -> list[Stale]:
    """Return the generated files of a repository that are out of date. For `others`, see `write`."""
    wanted = {**files(), **others}
    found = _found(root, wanted)
    missing = [Stale(path, "is missing") for path in wanted.keys() - found.keys()]
    strange = [Stale(path, "belongs to no kind") for path in found.keys() - wanted.keys()]
    differing = [
        Stale(path, "is not what its model says")
        for path in wanted.keys() & found.keys()
        if wanted[path] != found[path]
    ]
    return sorted(missing + strange + differing)


def document(manifest: Mapping[str, Any]) -> str:
    """Return one YAML document, identical for identical manifests."""
    return yaml.dump(dict(manifest), Dumper=_Plain, sort_keys=False, width=120, allow_unicode=True)


def documents(manifests: Iterable[Mapping[str, Any]]) -> str:
    """Return a YAML stream."""
    return "---\n".join(map(document, manifests))


def _files() -> Iterator[tuple[str, str]]:
    for kind in KINDS:
        head = _HEAD.format(path=kind.module.replace(".", "/"))
        yield f"xrds/{kind.plural}.yaml", head + document(xrd.definition(kind))
        yield f"compositions/{kind.plural}.yaml", head + document(xrd.composition(kind))
        yield _page(kind), reference.page(kind)
    yield "docs/reference/README.md", reference.index(KINDS, _PAGES)
    yield f"docs/reference/{rejections.PAGE}", rejections.page()
    yield f"docs/reference/{providers.PAGE}", providers.page()
    yield runbooks.INDEX, runbooks.index()
    yield "package/rbac.yaml", _ACCESS_HEAD + document(access.cluster_role())
    yield "package/roles.yaml", _ROLES_HEAD + documents(roles.cluster_roles())
    yield "package/admission.yaml", _ADMISSION_HEAD + documents(admission.manifests())
    yield "package/monitoring/custom-resource-state.yaml", _STATE_HEAD + document(state_metrics.configuration())
    yield "package/monitoring/kube-state-metrics-values.yaml", _STATE_HEAD + document(state_metrics.helm_values())
    yield "package/monitoring/kube-state-metrics-role.yaml", _STATE_HEAD + document(state_metrics.cluster_role())
    yield "package/namespace.yaml", _RUNTIME_HEAD + document(runtime.namespace())
    yield "package/runtime.yaml", _RUNTIME_HEAD + documents(runtime.manifests())
    yield "package/providers.yaml", _PROVIDERS_HEAD + documents(provider_access.manifests())
    yield "package/cluster-access.yaml", _CLUSTER_ACCESS_HEAD + document(cluster_access.cluster_role())
    yield "package/configuration/activation.yaml", _ACCESS_HEAD + document(access.activation())


def _page(kind: Kind) -> str:
    return f"docs/reference/{reference.page_name(kind)}"


def _found(root: Path, wanted: Iterable[str]) -> dict[str, str]:
    whole = {path for folder in FOLDERS for path in (root / folder).glob("*")}
    single = {root / path for path in wanted}
    paths = sorted(path for path in whole | single if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}


class _Plain(yaml.SafeDumper):
    """YAML without anchors: repeated content is written out again."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  (PyYAML's signature)
        return True
