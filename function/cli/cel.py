"""`modelplane cel`: checks and evaluates device selectors."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

import click

from function import cel as engine
from function.cli.devices import NoDevice, of_files
from function.cli.epilog import INVALID_OPTION, epilog
from function.cli.report import aligned
from function.cli.values import BrokenFile
from function.conversion.selectors import ERROR, NamedDevice, Reading, read
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
        "modelplane cel eval --compare 'has(device.attributes[\"gpu.nvidia.com\"])' --class examples/tour",
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
@click.option(
    "--compare", is_flag=True, help="Evaluate the selector with cel-python too, as Modelplane v0.3 did, and compare."
)
def evaluate(
    expression: str, classes: tuple[str, ...], devices: tuple[str, ...], *, as_json: bool, compare: bool
) -> None:
    """Evaluate a selector on each device, and print match, no match, or the error."""
    text = _text(expression)
    if not classes and not devices:
        raise click.UsageError("missing devices: use --class FILE or --device FILE")
    try:
        asked = list(of_files(classes, devices))
        selector = engine.compiled(text)
    except (BrokenFile, NoDevice) as broken:
        raise _Unusable(str(broken)) from None
    except engine.InvalidSelector as invalid:
        if compare:
            _show_readings(read(text, asked), as_json=as_json)
        if not (compare and as_json):
            click.echo(json.dumps(_said(invalid)) if as_json else _shown(invalid, text), err=not as_json)
        raise SystemExit(INVALID) from None
    answers = [_answer(selector, one) for one in asked]
    if compare:
        _show_readings(read(text, asked), as_json=as_json)
    else:
        click.echo(json.dumps(answers, ensure_ascii=False) if as_json else _table(answers))
    raise SystemExit(0 if any(answer["outcome"] == "match" for answer in answers) else 1)


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


def _answer(selector: engine.Selector, asked: NamedDevice) -> dict[str, str]:
    found = selector.evaluate(asked.device)
    if isinstance(found, engine.EvaluationError):
        return {"device": asked.name, "outcome": "error", "error": str(found)}
    return {"device": asked.name, "outcome": _WORDS[found]}


def _table(answers: list[dict[str, str]]) -> str:
    if not answers:
        return "no devices"
    width = max(len(answer["device"]) for answer in answers)
    return "\n".join(f"{a['device']:<{width}}  {a.get('error') or a['outcome']}".rstrip() for a in answers)


def _show_readings(readings: list[Reading], *, as_json: bool) -> None:
    """Print how Kubernetes and cel-python read a selector on each device."""
    if as_json:
        said = [{**asdict(one), "differs": one.differs} for one in readings]
        click.echo(json.dumps([{_camel(k): v for k, v in one.items() if v != ""} for one in said], ensure_ascii=False))
        return
    rows = [
        (one.device, one.error if one.kubernetes == ERROR else one.kubernetes, one.cel_python, _DIFFERS[one.differs])
        for one in readings
    ]
    click.echo("\n".join(aligned(("device", "kubernetes", "cel-python", ""), rows)) if rows else "no devices")


_DIFFERS = {True: "differs", False: ""}


def _camel(field: str) -> str:
    return "celPython" if field == "cel_python" else field
