"""`--live`: the fleet of a command is read from the API server that a kubeconfig names, instead of from files."""

from __future__ import annotations

import asyncio
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from function.cli import files, inputs
from function.cli.files import FileLocation, Loaded
from function.cli.fleet import sound
from function.cli.values import BrokenFile
from function.core import NamespacedName, visible
from function.planning.control_plane import kinds

if TYPE_CHECKING:
    from function.apiserver.credentials import Access
    from function.live.fleet import LiveFleet

F = TypeVar("F", bound=Callable[..., Any])
_DEFAULT_NAMESPACE = "default"
"""The namespace of kubectl where neither an option nor the context names one."""
_NO_TEXT = "{}"
"""Of the document of an object that is in no file."""
_IMPOSSIBLE = "a decision reads all kinds of Modelplane, in all namespaces"
_NOT_COMPARED = "manifests of these kinds, and what clouds have made, are not compared with what is composed now"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a live fleet is read."""

    kubeconfig: Path | None
    context: str | None
    namespace: str | None = None

    @property
    def words(self) -> str:
        """The options that name the same fleet, for a command that is suggested."""
        options = (("--kubeconfig", self.kubeconfig), ("--context", self.context))
        return shlex.join(["--live", *(word for name, value in options if value for word in (name, str(value)))])


@dataclass(frozen=True, slots=True)
class Live:
    """A live fleet that was read."""

    loaded: list[Loaded]
    is_whole: bool
    """Whether everything that belongs to it could be read."""
    namespace: str
    """The namespace of objects that name none, as kubectl takes it."""


def connection(command: F) -> F:
    """The options that name a control cluster, as kubectl has them."""
    command = click.option("--context", metavar="CONTEXT", help="Context of the kubeconfig.")(command)
    return click.option(
        "--kubeconfig",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Kubeconfig of the control cluster. By default, the one that kubectl uses.",
    )(command)


def options(command: F) -> F:
    """The options of a command that reads a fleet from files or, if asked to, from a control cluster."""
    flag = click.option(
        "--live", "is_live", is_flag=True, help="Read the fleet from the control cluster. Nothing is written."
    )
    return flag(connection(command))


def source(
    dirs: Sequence[str], kubeconfig: Path | None, context: str | None, namespace: str | None = None, *, live: bool
) -> Source | None:
    """The live fleet that options name; None for one in files. Raises UsageError."""
    if live and dirs:
        raise click.UsageError(
            f"--live reads the fleet from the cluster, so {shlex.join(dirs)} cannot be given, too. "
            "To plan what applying files would do, use --live --change FILE; "
            "if the files are the whole fleet, use --live --to DIR."
        )
    if live:
        return Source(kubeconfig, context, namespace)
    given = {"--kubeconfig": kubeconfig, "--context": context, "--namespace": namespace}
    if lone := [name for name, value in given.items() if value is not None]:
        raise click.UsageError(f"{lone[0]} needs --live.")
    if not dirs:
        raise click.UsageError("Missing argument 'DIR...'. Name files, or use --live to read the fleet of a cluster.")
    return None


def fleet(of: Source) -> Live:
    """Read a live fleet as a whole. What could not be read of it is told on standard error.

    Raises:
        ClickException: The server cannot be reached, or a kind that a decision needs may not be read.
    """
    found, access = read(of)
    if found.forbidden:
        raise click.ClickException("\n".join(refusal(found, access, _IMPOSSIBLE)))
    keep(found, access, _NOT_COMPARED)
    loaded = sound(located(found.objects))
    return Live(loaded, not found.unread, of.namespace or access.namespace or _DEFAULT_NAMESPACE)


def read(of: Source, namespace: str = "", *, composed: bool = True) -> tuple[LiveFleet, Access]:
    """What can be read of a live fleet, and how it was reached. Raises ClickException."""
    from function.apiserver import client, credentials
    from function.live import fleet as live

    async def see(access: Access) -> LiveFleet:
        async with access.client:
            return await live.read(access.client, namespace, composed=composed)

    try:
        access = credentials.found(of.kubeconfig, of.context)
    except credentials.UnusableCredentials as fault:
        raise click.ClickException(str(fault)) from fault
    try:
        return asyncio.run(see(access)), access
    except client.Unauthorized as fault:
        raise click.ClickException(_not_accepted(access)) from fault
    except client.NoAnswer as fault:
        raise click.ClickException(f"the fleet cannot be read from {access.server} ({access.who}): {fault}") from fault
    except live.NotInstalled as fault:
        raise click.ClickException(
            f"{access.server} ({access.who}) serves no kind of Modelplane; is it the control cluster?"
        ) from fault


def _not_accepted(access: Access) -> str:
    return (
        f"{access.server} does not accept the credentials of {access.who}: "
        "a token or certificate is wrong, has expired or was revoked"
    )


def refusal(found: LiveFleet, access: Access, why: str) -> Iterator[str]:
    """The error that a fleet cannot be read, with the rights that are missing."""
    from function.live import rights

    yield f"the fleet of {access.server} ({access.who}) cannot be read: {why}"
    yield from (f"  {_visible(line)}" for line in rights.told(found.forbidden))


def _visible(line: str) -> str:
    """A line with its indent, and without control characters: it can repeat what a server answered."""
    return line[: len(line) - len(line.lstrip())] + visible(line.lstrip())


def keep(found: LiveFleet, access: Access, unknown: str) -> None:
    """Tell on standard error what could not be read and what is therefore `unknown`, and keep it for the output for
    programs."""
    from function.live import rights

    refused = [*found.forbidden, *found.unread]
    if refused:
        click.echo(f"warning: the result is partial: {unknown}", err=True)
    for line in rights.told(refused):
        click.echo(f"  {_visible(line)}", err=True)
    data = {
        "server": access.server,
        "isPartial": bool(refused),
        "objects": dict(sorted(Counter(one["kind"] for one in found.objects).items())),
        "forbidden": rights.names(refused),
        "notServed": list(found.absent),
    }
    inputs.keep("live", data)


def remark() -> str:
    """The first lines of Markdown about a live fleet of which not everything could be read; else nothing."""
    told = inputs.noted().get("live") or {}
    kinds_ = ", ".join(f"`{name}`" for name in told.get("forbidden", ()))
    return f"> [!WARNING]\n> This plan is partial. It does not compare objects of {kinds_}.\n\n" if kinds_ else ""


def located(objects: Iterable[dict[str, Any]]) -> list[Loaded]:
    """Objects with their places, which are their names. Raises ClickException for one that is none."""
    try:
        return files.told([files.sound(one, _place(one)) for one in objects])
    except BrokenFile as broken:
        raise click.ClickException(f"the API server answers with an object that is none: {broken}") from broken


def _place(one: dict[str, Any]) -> FileLocation:
    metadata = one["metadata"]
    name = NamespacedName(str(metadata.get("namespace") or ""), str(metadata.get("name") or ""))
    return FileLocation(f"{one['kind']}/{name}", 1, _NO_TEXT)


def with_namespaces(loaded: Sequence[Loaded], namespace: str) -> list[Loaded]:
    """Objects in the namespace in which kubectl would put those that name none."""
    served = kinds()

    def placed(one: Loaded) -> Loaded:
        if one.identity.namespace or not served.of(*one.kind).namespaced:
            return one
        return replace(one, manifest={**one.manifest, "metadata": {**one.manifest["metadata"], "namespace": namespace}})

    return [placed(one) for one in loaded]
