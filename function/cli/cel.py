"""`modelplane cel`: checks and evaluates device selectors."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import click

from function import cel as engine
from function.cli.epilog import INVALID_OPTION, epilog
from function.cli.files import load, values
from function.cli.values import BrokenFile
from function.core import dig
from function.kinds.modeldeployment import selectors

_CHECK = epilog(
    [
        "modelplane cel check 'device.driver == \"gpu.nvidia.com\"'",
        "modelplane cel check - < selector.cel",
    ],
    {
        0: "Kubernetes accepts the selector",
        1: "Kubernetes refuses the selector",
        2: INVALID_OPTION,
    },
)
_EVAL = epilog(
    [
        "modelplane cel eval 'device.driver == \"gpu.nvidia.com\"' --class examples/tour/classes.yaml",
        (
            "kubectl get resourceslices -o yaml | "
            "modelplane cel eval 'device.attributes[\"gpu.nvidia.com\"].ecc' --device -"
        ),
    ],
    {
        0: "at least one device matches",
        1: "no device matches",
        2: "the selector does not compile, a file cannot be read, or an option is invalid",
    },
)
INVALID = 2
_WORDS = {engine.MATCH: "match", engine.NO_MATCH: "no match"}


@click.group()
def cel() -> None:
    """Check whether Kubernetes accepts a device selector, and which devices it matches."""


_TAKES_A_MINUS = {"ignore_unknown_options": True}
"""An expression can begin with a minus."""


@cel.command(short_help="Check whether Kubernetes accepts a selector.", epilog=_CHECK, context_settings=_TAKES_A_MINUS)
@click.argument("expression", metavar="EXPR")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(expression: str, *, as_json: bool) -> None:
    """Check whether Kubernetes accepts a selector. Use - to read it from standard input."""
    text = _text(expression)
    try:
        selector = engine.admitted(text)
    except engine.InvalidSelector as invalid:
        click.echo(json.dumps(_said(invalid)) if as_json else _shown(invalid, text))
        raise SystemExit(1) from None
    click.echo(json.dumps(_fields(selector)) if as_json else _accepted(selector))


@cel.command("eval", short_help="Evaluate a selector on devices.", epilog=_EVAL, context_settings=_TAKES_A_MINUS)
@click.argument("expression", metavar="EXPR")
@click.option(
    "--class", "classes", multiple=True, metavar="FILE", help="File or folder with InferenceClasses, or - for stdin."
)
@click.option(
    "--device",
    "devices",
    multiple=True,
    metavar="FILE",
    help="File or folder with devices or ResourceSlices, or - for stdin.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def evaluate(expression: str, classes: tuple[str, ...], devices: tuple[str, ...], *, as_json: bool) -> None:
    """Evaluate a selector on each device, and print match, no match, or the error."""
    text = _text(expression)
    if not classes and not devices:
        raise click.UsageError("missing devices: use --class FILE or --device FILE")
    try:
        selector, asked = engine.compiled(text), list(_asked(classes, devices))
    except engine.InvalidSelector as invalid:
        click.echo(json.dumps(_said(invalid)) if as_json else _shown(invalid, text), err=not as_json)
        raise SystemExit(INVALID) from None
    except (BrokenFile, _NoDevice) as broken:
        raise _Unusable(str(broken)) from None
    answers = [_answer(selector, one) for one in asked]
    click.echo(json.dumps(answers, ensure_ascii=False) if as_json else _table(answers))
    raise SystemExit(0 if any(answer["outcome"] == "match" for answer in answers) else 1)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A device, and its name in the output."""

    name: str
    device: engine.Device


class _NoDevice(ValueError):
    """A document that is not a device."""


class _Unusable(click.ClickException):
    """The selector or a file is invalid, so there is no answer."""

    exit_code = INVALID


def _text(expression: str) -> str:
    return sys.stdin.read() if expression == "-" else expression


def _fields(selector: engine.Selector) -> dict[str, Any]:
    warnings = [{"problem": warning.problem, **asdict(warning.place)} for warning in selector.warnings]
    together = {"counts": selector.price, "limit": selectors.MOST_COST}
    return {
        "valid": True,
        "cost": selector.cost,
        "limit": engine.COST_LIMIT,
        "together": together,
        "warnings": warnings,
    }


def _said(invalid: engine.InvalidSelector) -> dict[str, Any]:
    return {
        "valid": False,
        "problem": invalid.problem,
        **asdict(invalid.place),
        "suggestion": invalid.suggestion,
    }


def _shown(invalid: engine.InvalidSelector, text: str) -> str:
    return f"{invalid}\n{_marked(text, invalid.place)}"


def _accepted(selector: engine.Selector) -> str:
    together = f"{selector.price:,} of the {selectors.MOST_COST:,} units that all selectors of a deployment can cost"
    said = [f"valid; costs at most {selector.cost:,} of {engine.COST_LIMIT:,} units per evaluation; counts {together}"]
    said += [f"warning: {warning}\n{_marked(selector.text, warning.place)}" for warning in selector.warnings]
    return "\n".join(said)


def _marked(text: str, place: engine.Place) -> str:
    """The line of an error, with a caret below its place."""
    line = text.split("\n")[place.line - 1]
    return f"  {line}\n  {_gap(line[: place.column - 1])}^"


def _gap(before: str) -> str:
    """Blanks of the same width as a text."""
    return "".join("\t" if letter == "\t" else " " for letter in before)


def _asked(classes: tuple[str, ...], devices: tuple[str, ...]) -> Iterator[_Asked]:
    for loaded in load(classes):
        if loaded.manifest["kind"] != "InferenceClass":
            continue
        owner = loaded.manifest["metadata"]["name"]
        for published in _mappings(dig(loaded.manifest, "spec", "devices"), f"{loaded.source.file}: spec.devices"):
            name = f"{owner}/{published.get('name', '')}"
            yield _Asked(name, _device(published, published.get("driver"), name))
    for file in devices:
        for document in values(file):
            yield from _published(document, file)


def _published(document: Any, file: str) -> Iterator[_Asked]:
    """The devices of a document: a device, a list of them, or the output of `kubectl get resourceslices -o yaml`."""
    if isinstance(document, list):
        for entry in document:
            yield from _published(entry, file)
    elif not isinstance(document, Mapping):
        raise _NoDevice(f"{file}: not a device: {document!r}")
    elif "items" in document:
        yield from _published(document["items"] or [], file)
    elif document.get("kind") == "ResourceSlice":
        driver, owner = dig(document, "spec", "driver"), dig(document, "metadata", "name")
        for entry in _mappings(dig(document, "spec", "devices"), f"{file}: spec.devices of {owner}"):
            name = f"{owner}/{entry.get('name')}"
            yield _Asked(name, _device(entry.get("basic") or entry, driver, name))
    else:
        name = str(document.get("name") or file)
        yield _Asked(name, _device(document, document.get("driver"), name))


def _mappings(value: Any, where: str) -> list[Mapping[str, Any]]:
    if value is not None and not (isinstance(value, list) and all(isinstance(one, Mapping) for one in value)):
        raise _NoDevice(f"{where} must be a list of devices")
    return value or []


def _device(published: Any, driver: Any, name: str) -> engine.Device:
    if not isinstance(published, Mapping) or not isinstance(driver, str):
        raise _NoDevice(f"{name}: driver is missing")
    return engine.Device(
        driver=driver,
        attributes=tuple(
            (key, _value(f"{name}: attribute {key}", given)) for key, given in _of(published, "attributes", name)
        ),
        capacity=tuple(
            (key, _amount(f"{name}: capacity {key}", given)) for key, given in _of(published, "capacity", name)
        ),
        allow_multiple_allocations=bool(published.get("allowMultipleAllocations", False)),
    )


def _of(published: Mapping[str, Any], field: str, name: str) -> Iterable[tuple[str, Any]]:
    found = published.get(field) or {}
    if not isinstance(found, Mapping):
        raise _NoDevice(f"{name}: {field} must be a map")
    return found.items()


def _value(where: str, given: Any) -> Any:
    if not isinstance(given, Mapping) or len(given) != 1:
        raise _NoDevice(f"{where} must have exactly one of string, version, bool and int")
    ((kind, value),) = given.items()
    return engine.Version(str(value)) if kind == "version" else value


def _amount(where: str, given: Any) -> str:
    """The amount, from a mapping as in ResourceSlices or from the bare value."""
    found = given.get("value") if isinstance(given, Mapping) else given
    if not isinstance(found, str | int | float):
        raise _NoDevice(f"{where} must have a value, such as 80Gi")
    return str(found)


def _answer(selector: engine.Selector, asked: _Asked) -> dict[str, str]:
    found = selector.evaluate(asked.device)
    if isinstance(found, engine.EvaluationError):
        return {"device": asked.name, "outcome": "error", "error": str(found)}
    return {"device": asked.name, "outcome": _WORDS[found]}


def _table(answers: list[dict[str, str]]) -> str:
    if not answers:
        return "no devices"
    width = max(len(answer["device"]) for answer in answers)
    return "\n".join(f"{a['device']:<{width}}  {a.get('error') or a['outcome']}".rstrip() for a in answers)
