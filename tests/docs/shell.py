"""Reads the shell commands that pages show, and says what is wrong with one as far as can be known without running it.

A command of ours must have valid options. One of kubectl names kinds and fields that exist. A file below a folder of
the repository is there. Words in capitals, such as NAMESPACE, are for the reader to replace.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from importlib.util import find_spec

import click

from tests.docs import kubectl
from tests.docs.pages import ROOT
from tests.docs.running import parsed


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


OTHERS = words(
    "[ alias amtool aws az cat cd chmod column command cosign crane cut curl diff docker echo etcdctl etcdutl "
    "eval exit export gcloud getent git go grep head jq kind kubectx ls mkdir mkdocs mktemp mv mypy nebius "
    "openssl pip pipx printf promtool pytest read rm ruff sed set sh sleep sort source sudo tail tar tee test tr "
    "trap true unzip uv velero vllm wc wget xargs yq "
)
"""Programs of others, of whose arguments only the files are checked."""
_CROSSPLANE = {"xpkg": words("install push build update login extract"), "beta": words("trace validate")}
_HELM = words("get history install list pull repo rollback show template uninstall upgrade")
_PLUMBING = words("do then else elif ! while until if { time exec env nohup")
_CONTROL = words("for case esac done fi } in ;;")
_FOLDERS = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")} - {"build", "dist"}
_TO_REPLACE = re.compile(r"[A-Z]{3,}(?!\w*\.)")
_TARGETS = frozenset(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
_OPERATOR = re.compile(r"[|&;()<>\n]+")
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?([^\n]*)\n.*?^\s*\1$", re.MULTILINE | re.DOTALL)
_CASE = re.compile(r"\bcase \S+ in\b[^)]*\)|;;[^)\n]*\)")
"""What begins a branch."""


def problems(script: str) -> list[str]:
    """What is wrong with the commands of a block."""
    return [f"{shlex.join(words)}: {problem}" for words in commands(script) if (problem := _problem(words))]


def commands(script: str) -> Iterator[list[str]]:
    """Yield the words of each simple command, those inside $(…) first."""
    text, inner = _substituted(_CASE.sub("", _HEREDOC.sub(r"\2", script).replace("\\\n", " ")))
    for one in inner:
        yield from commands(one)
    lexer = shlex.shlex(text.replace("\n", "\n;\n"), posix=True, punctuation_chars="|&;()<>")
    lexer.wordchars += "$%@,:…^+![]{}"
    found: list[str] = []
    for word in [*lexer, ";"]:
        if _OPERATOR.fullmatch(word):
            found = yield from _command(found, ended=word)
        else:
            found.append(word)


def _command(words: list[str], *, ended: str) -> Iterator[list[str]]:
    """Yield a command without what the shell itself reads. Return the words that begin the next."""
    while words and (words[0] in _PLUMBING or re.match(r"\w+=", words[0])):
        words = words[1:]
    if words and words[0] not in _CONTROL and words[0] != "FILE":
        yield words
    return ["FILE"] if {"<", ">"} & set(ended) else []


def _substituted(text: str) -> tuple[str, list[str]]:
    """Return a text with a word in place of each $(…), and what was in these."""
    inner = []
    while (start := text.find("$(")) >= 0 and not text.startswith("$((", start):
        end, depth = start + 2, 1
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        inner.append(text[start + 2 : end - 1])
        text = f"{text[:start]}OUTPUT{text[end:]}"
    return text, inner


def _problem(words: list[str]) -> str:
    program, *arguments = words[0].removeprefix(".venv/bin/"), *words[1:]
    check = _CHECKS.get(program)
    if not check and program not in OTHERS and not program.isupper() and program != "…":
        return f"is {program} a program? Add it to OTHERS"
    return (check(arguments) if check else "") or _files(arguments)


def _files(arguments: list[str]) -> str:
    for argument in arguments:
        path = re.sub(r"^(?:-\w|--[\w-]+=|\w+=|@|file://)", "", argument).partition("#")[0]
        folder = path.partition("/")[0]
        is_ours = "/" in path and folder in _FOLDERS and "*" not in path and not _TO_REPLACE.search(path)
        if is_ours and not (ROOT / path).exists():
            return f"{path} is not in the repository"
    return ""


def _ours(arguments: list[str]) -> str:
    try:
        parsed(arguments)
    except click.exceptions.Exit:
        return ""
    except click.ClickException as wrong:
        return wrong.format_message()
    return ""


def _make(arguments: list[str]) -> str:
    targets = [one for one in arguments if "=" not in one and not one.startswith("-")]
    return ", ".join(f"make has no target {one}" for one in targets if one not in _TARGETS)


def _python(arguments: list[str]) -> str:
    if arguments[:1] != ["-m"]:
        return ""
    return "" if find_spec(arguments[1]) else f"there is no module {arguments[1]}"


def _crossplane(arguments: list[str]) -> str:
    command, below, *_ = [*(one for one in arguments if not one.startswith("-")), "", ""]
    is_known = below in _CROSSPLANE.get(command, ()) or command in {"render", "version"}
    return "" if is_known else f"crossplane has no command {command} {below}"


def _helm(arguments: list[str]) -> str:
    return "" if _HELM.issuperset(arguments[:1]) else f"helm has no command {arguments[0]}"


_CHECKS = {
    "modelplane": _ours, "make": _make, "python": _python, "python3": _python,
    "crossplane": _crossplane, "helm": _helm,
    "kubectl": kubectl.problem,
}  # fmt: skip
