"""`modelplane manifests`: what the objects of a fleet become on each cluster, from files alone."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from function.cli import folder, yaml_text
from function.cli.epilog import INVALID_OPTION, epilog
from function.cli.fleet import checked, settled
from function.cli.target import chosen
from function.core import plain, plural, visible

if TYPE_CHECKING:
    from function.planning.becoming import Becomes
    from function.sandbox.store import Ref, Store

_EXAMPLE = epilog(
    [
        "modelplane manifests examples/tour --cluster europe",
        "modelplane manifests examples/tour --of ModelDeployment/ml-team/qwen3-8b -o json",
        "modelplane manifests fleet/ --namespace ml-team --to manifests/",
    ],
    {
        0: "the manifests were written",
        1: "an error: an invalid file, a name that does not exist, or a folder that is not empty",
        2: INVALID_OPTION,
    },
)
_CONTROL_FILE = "_control-cluster"
"""No InferenceCluster can have this name."""
_SCOPED, _NAMESPACED = 2, 3
"""Parts of KIND/NAME and of KIND/NAMESPACE/NAME."""


@click.command(epilog=_EXAMPLE)
@click.argument("dirs", nargs=-1, required=True, metavar="DIR...")
@click.option("--cluster", "clusters", multiple=True, metavar="NAME", help="Only this InferenceCluster; repeatable.")
@click.option("--namespace", "-n", metavar="NAME", help="Only what objects of this namespace become.")
@click.option(
    "--of", "origins", multiple=True, metavar="KIND/NAMESPACE/NAME", help="Only what this object becomes; repeatable."
)
@click.option("--output", "-o", "form", type=click.Choice(("yaml", "json")), default="yaml", show_default=True)
@click.option(
    "--to", type=click.Path(path_type=Path), metavar="DIR", help="Write a file for each cluster into a folder."
)
@click.option("--force", is_flag=True, help="Overwrite files in the folder.")
@click.option("--target", metavar="HOST:PORT", help="Call the function that is served there, over gRPC without TLS.")
def manifests(
    dirs: tuple[str, ...],
    clusters: tuple[str, ...],
    origins: tuple[str, ...],
    *,
    namespace: str | None,
    form: str,
    to: Path | None,
    force: bool,
    target: str | None,
) -> None:
    """Show what each object becomes on each cluster: on inference clusters, and on the control cluster.

    DIR is one or more folders or files, or - for standard input. The fleet is reconciled until nothing changes, as by
    `modelplane plan`. Values that only a real cluster gives are shown as (known after apply), secrets as (sensitive).
    The result is for reading: Crossplane applies the manifests.
    """
    from function.planning import becoming

    if force and to is None:
        raise click.UsageError("--force needs --to")
    wanted = [_named(origin) for origin in origins]
    if to is not None:
        folder.check(to, overwrites=force)
    control = settled(checked(dirs), function=chosen(target))
    _check(control.store, clusters, wanted, namespace)
    found = [one for one in becoming.read(control.store) if _is_wanted(one, clusters, wanted, namespace)]
    by_cluster = [(where, list(some)) for where, some in groupby(found, key=lambda one: one.where)]
    if to is None:
        click.echo(_json(by_cluster) if form == "json" else "".join(_yaml(*one) for one in by_cluster), nl=False)
        return
    files = {f"{_file(where)}.{form}": _json([(where, some)]) if form == "json" else _yaml(where, some)
             for where, some in by_cluster}  # fmt: skip
    folder.write(to, files)
    click.echo(f"{plural(len(found), 'manifest')} in {plural(len(files), 'file')} below {visible(str(to))}")


# Filters


def _named(origin: str) -> tuple[str, str, str]:
    """Kind, namespace and name. Raises UsageError."""
    from function.publish import catalog

    kind, *rest = origin.split("/")
    known = {alias.lower(): one.kind for one in catalog.KINDS for alias in (one.kind, one.plural, *one.short_names)}
    if kind.lower() not in known or len(rest) + 1 not in (_SCOPED, _NAMESPACED) or not all(rest):
        raise click.UsageError(
            f"--of {origin}: use KIND/NAMESPACE/NAME, such as ModelDeployment/ml-team/qwen, or KIND/NAME, such as"
            " InferenceCluster/iowa"
        )
    return known[kind.lower()], rest[0] if len(rest) == _NAMESPACED - 1 else "", rest[-1]


def _check(
    store: Store, clusters: Iterable[str], origins: Iterable[tuple[str, str, str]], namespace: str | None
) -> None:
    """Raise ClickException for a name that does not exist."""
    from function.planning import edits

    for name in clusters:
        _must_be("InferenceCluster", name, edits.clusters(store))
    for kind, own, name in origins:
        there = [ref for ref in _ours(store) if ref.kind == kind]
        _must_be(kind, "/".join(filter(None, (own, name))), [_path(ref) for ref in there])
    if namespace is not None:
        _must_be("namespace", namespace, {ref.namespace for ref in _ours(store) if ref.namespace})


def _ours(store: Store) -> list[Ref]:
    from function.publish import catalog

    return [ref for one in catalog.KINDS for ref in store.refs(one.api_version, one.kind)]


def _path(ref: Ref) -> str:
    return "/".join(filter(None, (ref.namespace, ref.name)))


def _must_be(kind: str, name: str, known: Collection[str]) -> None:
    from function.planning import edits

    if name not in known:
        raise click.ClickException(edits.unknown(kind, name, known))


def _is_wanted(
    one: Becomes, clusters: Collection[str], origins: Collection[tuple[str, str, str]], namespace: str | None
) -> bool:
    owners = (one.origin, one.composite)
    is_of = not origins or any(ref[1:] in origins for ref in owners)
    return is_of and (not clusters or one.where in clusters) and namespace in (None, one.origin.namespace)


# Output


def _file(where: str) -> str:
    from function.planning.differences import CONTROL_CLUSTER

    return _CONTROL_FILE if where == CONTROL_CLUSTER else where


def _yaml(where: str, some: Sequence[Becomes]) -> str:
    """A document for each manifest. The first of a cluster, and the first of a composite, has a heading."""
    documents: list[str] = []
    for composite, group in groupby(some, key=lambda one: (one.origin, one.composite)):
        heads = [*([] if documents else [f"# {_heading(where)}\n"]), f"# {_title(*composite)}\n"]
        for one in group:
            documents.append(f"---\n{''.join(heads)}{yaml_text.document(one.manifest, is_sorted=False)}")
            heads = []
    return "".join(documents)


def _heading(where: str) -> str:
    from function.planning.differences import CONTROL_CLUSTER

    return "The control cluster" if where == CONTROL_CLUSTER else f"InferenceCluster {visible(where)}"


def _title(origin: Ref, composite: Ref) -> str:
    return visible(str(origin) if origin == composite else f"{origin}: {composite.kind} {composite.name}")


def _json(by_cluster: Sequence[tuple[str, Sequence[Becomes]]]) -> str:
    from function.planning.differences import CONTROL_CLUSTER

    clusters = [
        {
            "cluster": None if where == CONTROL_CLUSTER else where,
            "manifests": [
                {"of": _data(one.origin), "composite": _data(one.composite), "manifest": plain(one.manifest)}
                for one in some
            ],
        }
        for where, some in by_cluster
    ]
    return f"{json.dumps({'clusters': clusters}, indent=2, ensure_ascii=False)}\n"


def _data(ref: Ref) -> dict[str, Any]:
    return {"kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
