"""All commands as data, from click's own commands, and the page of the reference that lists them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import click

from function.cli import completion, epilog, faults
from function.cli.parameters import shared
from function.publish.catalog import KINDS
from function.publish.generate import COMMANDS

TITLE, PAGE = COMMANDS
_NOTE = "<!-- Written by `modelplane generate` from the commands. Edit those. -->"
_ANY = {
    faults.INTERRUPTED: "interrupted (Ctrl-C)",
    faults.BROKEN_PIPE: "the reader of the output has gone, such as `head`",
}
"""Exit codes of all commands."""
_OUTLINE = f"function/cli/{completion.OUTLINE}"


def files(main: click.Group) -> dict[str, str]:
    """The files that are generated from the commands, by their path in the repository."""
    commands = outline(main)
    known = {"commands": commands, "kinds": sorted(kind.kind for kind in KINDS)}
    return {
        f"docs/reference/{PAGE}": page(commands),
        _OUTLINE: json.dumps(known, indent=1, ensure_ascii=False) + "\n",
    }


def outline(group: click.Group) -> dict[str, Any]:
    """The commands of a group, with their parameters."""
    context = click.Context(group)
    found = {}
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, "it is listed"
        found[name] = _command(shared(command))
    return found


def page(commands: Mapping[str, Any]) -> str:
    lines = [_NOTE, "", f"# {TITLE}", "", *_codes_of_all(), *_contents(commands)]
    for path, command in leaves(commands):
        lines += _section(path, command)
    return "\n".join(lines).rstrip("\n") + "\n"


def _command(command: click.Command) -> dict[str, Any]:
    summary = command.get_short_help_str(limit=200)
    if isinstance(command, click.Group):
        return {"summary": summary, "commands": outline(command)}
    documented = epilog.of(command)
    params = [_param(param) for param in command.params if not getattr(param, "hidden", False)]
    codes = {str(code): meaning for code, meaning in documented.exit_codes.items()} if documented else {}
    return {"summary": summary, "params": params, "exitCodes": codes}


def _param(param: click.Parameter) -> dict[str, Any]:
    """A parameter. What is false or empty is left out."""
    option = param if isinstance(param, click.Option) else None
    is_flag = option is not None and option.is_flag
    found = {
        "name": param.name,
        "options": sorted(param.opts, key=len, reverse=True) if option else None,
        "flag": is_flag,
        "metavar": None if is_flag else _metavar(param),
        "values": list(param.type.choices) if isinstance(param.type, click.Choice) else None,
        "repeats": option.multiple if option else param.nargs == -1,
        "required": param.required,
        "default": _default(param),
        "variables": [param.envvar] if isinstance(param.envvar, str) else param.envvar,
        "help": option.help if option else None,
    }
    return {key: value for key, value in found.items() if value}


def _metavar(param: click.Parameter) -> str:
    return param.make_metavar(click.Context(click.Command("")))


def _default(param: click.Parameter) -> str | None:
    """The default that the help shows."""
    if not getattr(param, "show_default", None):
        return None
    return str(param.default)


def leaves(commands: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, command in commands.items():
        path = f"{prefix}{name}"
        if "commands" in command:
            yield from leaves(command["commands"], f"{path} ")
        else:
            yield path, command


def _codes_of_all() -> Iterator[str]:
    yield "Each command has its own exit codes below. These are the same for all:"
    yield from ("", "| exit code | meaning |", "|---|---|")
    yield from (f"| {code} | {meaning} |" for code, meaning in _ANY.items())
    yield ""


def _contents(commands: Mapping[str, Any]) -> Iterator[str]:
    yield from ("| command | purpose |", "|---|---|")
    for path, command in leaves(commands):
        anchor = f"modelplane-{path.replace(' ', '-')}"
        yield f"| [`modelplane {path}`](#{anchor}) | {_cell(command['summary'])} |"
    yield ""


def _section(path: str, command: Mapping[str, Any]) -> Iterator[str]:
    arguments = [param["metavar"] for param in command["params"] if "options" not in param]
    yield from (f"## modelplane {path}", "", command["summary"], "")
    yield from ("```text", " ".join(["modelplane", path, "[OPTIONS]", *arguments]), "```", "")
    yield from ("| option | default | purpose |", "|---|---|---|")
    yield from (_row(param) for param in command["params"] if "options" in param)
    yield from ("", "| exit code | meaning |", "|---|---|")
    yield from (f"| {code} | {_cell(meaning)} |" for code, meaning in command["exitCodes"].items())
    yield ""


def _row(param: Mapping[str, Any]) -> str:
    names = ", ".join(f"`{name}`" for name in param["options"])
    value = f" `{_cell(param['metavar'])}`" if "metavar" in param else ""
    default = f"`{_cell(param['default'])}`" if "default" in param else "required" if param.get("required") else ""
    variables = f" Variable: {', '.join(f'`{name}`' for name in param['variables'])}." if "variables" in param else ""
    repeats = " Repeatable." if param.get("repeats") and "repeatable" not in param.get("help", "") else ""
    return f"| {names}{value} | {default} | {_cell(param.get('help', ''))}{repeats}{variables} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
