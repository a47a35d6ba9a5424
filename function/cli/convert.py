"""`modelplane convert`: other manifests as ModelDeployments on standard output, and a report on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence

import click

from function.cli import yaml_text
from function.cli.devices import NoDevice, of_files
from function.cli.epilog import epilog
from function.cli.files import Loaded, examine
from function.cli.report import Lines, Part, Table, show
from function.cli.values import BrokenFile
from function.conversion import checks
from function.conversion.convert import Converted
from function.conversion.convert import convert as converted
from function.conversion.notes import Verdict
from function.conversion.selectors import Reading
from function.core import NamespacedName, enumerate_names, plural
from function.schema import format_path

_EXAMPLE = epilog(
    [
        "modelplane convert deployment.yaml service.yaml > model.yaml",
        "kubectl get deployments,services,configmaps -n ml -o yaml | modelplane convert - -n ml-team",
        "modelplane convert old/ --classes classes.yaml --strict",
    ],
    {
        0: "converted; the report says what is left to do",
        1: "the result does not pass modelplane validate, or, with --strict, a field was not carried",
        2: "an invalid option, a file or an object that cannot be read, or nothing to convert",
    },
)
_FORMATS = ("yaml", "json")
_BAD_INPUT = 2
_READINGS = ("kubernetes", "cel-python", "devices", "")


@click.command(epilog=_EXAMPLE)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--classes",
    "classes",
    multiple=True,
    metavar="FILE",
    help="InferenceClasses: name each selector that cel-python, which Modelplane v0.3 used, reads otherwise.",
)
@click.option("--namespace", "-n", metavar="NAME", help="Namespace of the result, instead of that of the input.")
@click.option("--output", "-o", "form", type=click.Choice(_FORMATS), default="yaml", show_default=True)
@click.option("--strict", is_flag=True, help="Exit with 1 if a field was not carried.")
def convert(
    files: tuple[str, ...], classes: tuple[str, ...], namespace: str | None, form: str, *, strict: bool
) -> None:
    """Convert manifests in files and folders, or on standard input (-), to ModelDeployments.

    Reads ModelDeployments of Modelplane v0.3, Deployments, StatefulSets, Pods, LeaderWorkerSets, and KServe's
    LLMInferenceServices. Services in front of them become ModelServices and tell their ports. Secrets and ConfigMaps
    that they name are passed on. The report on standard error names every field that was changed or not carried.
    """
    loaded, broken = examine(files)
    try:
        devices = list(of_files(classes))
    except (BrokenFile, NoDevice) as problem:
        raise _Unusable(str(problem)) from None
    results = converted([one.manifest for one in loaded], namespace)
    left = checks.left(results)
    targets = [target for result in results for target in result.targets]
    if form == "json":
        click.echo(json.dumps({"apiVersion": "v1", "kind": "List", "items": targets}, indent=2, ensure_ascii=False))
    else:
        click.echo(yaml_text.documents(targets, is_sorted=False), nl=False)
    different = checks.different(results, devices)
    parts = [*_problems(broken), *_report(results, loaded, left), *_selectors(different), _summary(results, left)]
    show(parts, sys.stderr)
    raise SystemExit(_code(results, broken, left, strict=strict))


class _Unusable(click.ClickException):
    """The classes cannot be read."""

    exit_code = _BAD_INPUT


def _code(
    results: Sequence[Converted], broken: Sequence[BrokenFile], left: Sequence[checks.Left], *, strict: bool
) -> int:
    if broken or any(result.problem for result in results) or not any(result.targets for result in results):
        return _BAD_INPUT
    return int(any(one.finding.is_error for one in left) or (strict and _lost(results) > 0))


def _lost(results: Sequence[Converted]) -> int:
    return sum(note.verdict is Verdict.LOST for result in results for note in result.notes)


def _problems(broken: Sequence[BrokenFile]) -> Iterator[Part]:
    for one in broken:
        yield Lines("", [f"error: {one}"])


def _report(results: Sequence[Converted], loaded: Sequence[Loaded], left: Sequence[checks.Left]) -> Iterator[Part]:
    """A table for each object, and a line for each that was not converted."""
    rest = []
    for result, one in zip(results, loaded, strict=True):
        who = f"{one.source.at()}: {_named(result.source)}"
        if result.problem:
            at = one.source.at(result.problem.path)
            yield Lines("", [f"{at}: error: {format_path(result.problem.path)}: {result.problem}"])
        elif result.targets or result.notes:
            into = " and ".join(map(_named, result.targets)) or "nothing"
            yield Table(f"{who} -> {into}", ("", ""), list(_rows(result, left)))
        else:
            rest.append(f"{who}: {result.advice}")
    yield Lines("Not converted", rest)


def _rows(result: Converted, left: Sequence[checks.Left]) -> Iterator[tuple[str, str]]:
    order = list(Verdict)
    for note in sorted(result.notes, key=lambda note: order.index(note.verdict)):
        paths = [format_path(path) for path in (note.source, note.target) if path]
        yield note.verdict.value, ": ".join(filter(None, (" -> ".join(paths), note.message)))
    for one in left:
        if one.result is result:
            severity = "error" if one.finding.is_error else "warning"
            yield severity, f"{one.finding.field}: {one.finding.message}"


def _named(manifest: Mapping[str, object]) -> str:
    metadata = manifest["metadata"]
    assert isinstance(metadata, Mapping)
    return f"{manifest['kind']} {NamespacedName(metadata.get('namespace') or '', metadata['name'])}"


def _selectors(different: Mapping[str, Sequence[Reading]]) -> Iterator[Part]:
    for text, readings in different.items():
        groups: dict[tuple[str, str, str], list[str]] = {}
        for one in readings:
            groups.setdefault((one.kubernetes, one.cel_python, one.error), []).append(one.device)
        rows = [(ours, theirs, enumerate_names(names), why) for (ours, theirs, why), names in groups.items()]
        yield Table(f"Kubernetes and cel-python read this selector differently: {text}", _READINGS, rows)


def _summary(results: Sequence[Converted], left: Sequence[checks.Left]) -> Lines:
    targets = sum(len(result.targets) for result in results)
    errors = sum(one.finding.is_error for one in left)
    if results and not targets:
        return Lines("", ["error: nothing to convert"])
    said = f"{plural(len(results), 'object')} read, {targets} written; {plural(_lost(results), 'field')} not carried"
    return Lines("", [f"{said}; {plural(errors, 'error')} left in the result"])
