"""`modelplane completion`: completion of the shell. It must answer while a user waits, so it neither imports commands
nor parses YAML.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files as resources
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem, get_completion_class

from function.cli.epilog import INVALID_OPTION, UNWRITTEN, epilog
from function.vocabulary import versions

OUTLINE = "commands.json"
"""Commands and options, written by `modelplane generate`."""
_SHELLS = ("bash", "zsh", "fish")
_EXAMPLE = epilog(
    [
        "source <(modelplane completion bash)                                   in ~/.bashrc",
        "source <(modelplane completion zsh)                                    in ~/.zshrc",
        "modelplane completion fish > ~/.config/fish/completions/modelplane.fish",
    ],
    {0: "printed", 1: UNWRITTEN, 2: INVALID_OPTION},
)
_SUFFIXES = (".yaml", ".yml", ".json")
_MOST_FILES = 5_000
_PATHS = re.compile(r"\[?(FILE|DIR|DIRECTORY|HEAD|PATH|XR|COMPOSITION|FUNCTIONS)\]?(\.\.\.)?")
"""Metavars of files and folders."""
_LISTED = re.compile(r"[a-z-]+(\|[a-z-]+)+")
"""A metavar that lists the words that may be given."""


@click.command(epilog=_EXAMPLE)
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the code that completes commands, options, files, and names of objects in a shell."""
    root = context.find_root()
    found = get_completion_class(shell)
    assert found is not None, "click knows the shells that it is asked for"
    name = "modelplane"
    click.echo(found(root.command, {}, name, f"_{name.upper()}_COMPLETE").source())


# Values


class _Paths(click.ParamType[str]):
    """A file or a folder. Where the command also takes an object, that object in the files before it."""

    name = "text"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        others = [other for other in ctx.command.params if not _is_option(other)]
        if not _is_option(param) and any(map(is_object, others)):
            found = _items(_objects(ctx), incomplete)
            if found:
                return found
        return [CompletionItem(incomplete, type="file")]


class _Objects(click.ParamType[str]):
    """KIND/NAMESPACE/NAME of an object in the files on the line."""

    name = "text"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        return _items(_objects(ctx), incomplete)


class _Clusters(click.ParamType[str]):
    """The name of an InferenceCluster in the files on the line."""

    name = "text"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        return _items((one.name for one in named(_given(ctx)) if one.kind == "InferenceCluster"), incomplete)


class _Words(click.ParamType[str]):
    """One or more of the words that the help lists, with commas between them."""

    name = "text"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        before, comma, _ = incomplete.rpartition(",")
        return _items((before + comma + word for word in (param.metavar or "").split("|")), incomplete)


class _Kinds(click.ParamType[str]):
    """A kind of ours."""

    name = "text"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        return _items(_outlines()["kinds"], incomplete)


class _Commands(click.ParamType[str]):
    """A command, and then a command of that command."""

    name = "text"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        commands = _outlines()["commands"]
        for word in ctx.params.get(param.name or "") or ():
            commands = commands.get(word, {}).get("commands", {})
        return _items(commands, incomplete)


_TYPES: Mapping[str, type[click.ParamType[str]]] = {
    "CLUSTER": _Clusters,
    "CLUSTER|any": _Clusters,
    "[KIND]": _Kinds,
    "[COMMAND]...": _Commands,
}
"""By metavar."""


def kind(param: click.Parameter) -> click.ParamType[str] | None:
    """How the values of a parameter are completed, by what its help calls them."""
    metavar = param.metavar or ""
    if is_object(param):
        return _Objects()
    if metavar in _TYPES:
        return _TYPES[metavar]()
    if _LISTED.fullmatch(metavar):
        return _Words()
    return _Paths() if _PATHS.fullmatch(metavar) else None


def is_object(param: click.Parameter) -> bool:
    """Whether a parameter is an object, called KIND/NAMESPACE/NAME or similarly in the help."""
    return {"KIND", "NAME"} <= set(re.findall(r"\w+", param.metavar or "")) and "/" in (param.metavar or "")


def _objects(context: click.Context) -> Iterator[str]:
    return ("/".join(part for part in one if part) for one in named(_given(context)))


def _given(context: click.Context) -> list[str]:
    """The files and folders on the line: they may be values of any argument, and words that were not parsed yet."""
    values = [context.params.get(param.name or "") for param in context.command.params if not _is_option(param)]
    words = [word for value in values for word in (value if isinstance(value, tuple) else (value,))]
    return [word for word in (*words, *context.args) if isinstance(word, str) and Path(word).exists()]


def _is_option(param: click.Parameter) -> bool:
    return isinstance(param, click.Option)


def _items(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in sorted(set(names)) if name.startswith(incomplete)]


# Names


class Named(NamedTuple):
    """An object as a user names it."""

    kind: str
    namespace: str
    name: str


_OURS = re.compile(rf"^apiVersion:\s*[\"']?{re.escape(versions.MODELPLANE)}\b", re.MULTILINE)
_KIND = re.compile(r"^kind:\s*[\"']?(\w+)", re.MULTILINE)
_METADATA = re.compile(r"^metadata:(.*(?:\n(?:[ \t]+.*|\s*))*)", re.MULTILINE)
_DOCUMENT = re.compile(r"^---.*$", re.MULTILINE)


def named(paths: Iterable[str]) -> Iterator[Named]:
    """Our objects in files. Text is searched, not parsed: a name that is missed is only not proposed."""
    for path in paths:
        for file in _files(Path(path)):
            for document in _DOCUMENT.split(_text(file)):
                found = _OURS.search(document) and _KIND.search(document)
                metadata = _METADATA.search(document)
                if found and metadata and (name := _field("name", metadata[1])):
                    yield Named(found[1], _field("namespace", metadata[1]), name)


def _field(name: str, metadata: str) -> str:
    """The outermost field of this name; labels may have one as well."""
    pattern = re.compile(rf"(?:^|(?<=[\n{{,]))([ \t]*){name}:\s*[\"']?([\w.-]+)")
    found = min(pattern.finditer(metadata), key=lambda match: len(match[1]), default=None)
    return found[2] if found else ""


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    count = 0
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.endswith(_SUFFIXES) and not name.startswith(".") and count < _MOST_FILES:
                count += 1
                yield Path(folder, name)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


# Commands without their modules


def outline(name: str) -> click.Command | None:
    """A command with its options and without its module, which would take a second to import."""
    found = _outlines()["commands"].get(name)
    return _command(name, found) if found else None


@cache
def _outlines() -> Mapping[str, Any]:
    found = json.loads(resources(__package__).joinpath(OUTLINE).read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def _command(name: str, found: Mapping[str, Any]) -> click.Command:
    summary = found["summary"]
    if "commands" in found:
        inner = [_command(one, data) for one, data in found["commands"].items()]
        return click.Group(name, short_help=summary, commands=inner)
    return click.Command(name, short_help=summary, params=[_param(data) for data in found["params"]])


def _param(data: Mapping[str, Any]) -> click.Parameter:
    type_ = click.Choice(data["values"]) if data.get("values") else click.STRING
    metavar, is_many = data.get("metavar"), data.get("repeats", False)
    if "options" not in data:
        param: click.Parameter = click.Argument(
            [data["name"]], nargs=-1 if is_many else 1, required=False, metavar=metavar, type=type_
        )
    elif data.get("flag"):
        return click.Option(data["options"], is_flag=True, help=data.get("help"))
    else:
        param = click.Option(data["options"], multiple=is_many, metavar=metavar, type=type_, help=data.get("help"))
    param.type = kind(param) or param.type
    return param
