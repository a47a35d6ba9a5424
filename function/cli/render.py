"""`modelplane render`: one reconcile of one XR, with the flags and the output of `crossplane render`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from function import registry
from function.cli import terminal, yaml_text
from function.cli.epilog import INVALID_OPTION, epilog
from function.cli.files import Loaded, load, values, values_in
from function.cli.target import chosen
from function.cli.values import BrokenFile
from function.core import Manifest, plain

_EXAMPLE = epilog(
    [
        "modelplane render examples/tour/clusters.yaml#starter -e examples/tour",
        "modelplane render examples/tour/deployment.yaml --required-resources examples/tour -x",
        "modelplane render xr.yaml composition.yaml functions.yaml -o observed.yaml -r",
    ],
    {
        0: "the resource was rendered, whatever its conditions",
        1: "an error: an invalid file, or an input that crossplane would refuse to render",
        2: INVALID_OPTION,
    },
    note="\b\nIf a file contains several resources, append #NAME, #NAMESPACE/NAME or #KIND/NAME to select one.",
)


_MEANINGLESS = (
    ("--crossplane-version",),
    ("--crossplane-image",),
    ("--crossplane-binary",),
    ("--crossplane-docker-network",),
    ("--required-schemas", "-s"),
    ("--function-credentials",),
    ("--function-annotations", "-a"),
    ("--cache-dir",),
    ("--max-concurrency",),
    ("--project-file", "-f"),
    ("--timeout",),
    ("--config",),
)
"""Flags with a value that say how crossplane finds and runs programs, or that pass to functions what ours does not
ask for (crossplane/cli v2.5.0, cmd/crossplane/render/xr/cmd.go, render/engine.go and main.go)."""
_IGNORED = "ignored_"


def _meaningless(command: Callable[..., None]) -> Callable[..., None]:
    """Accept the flags of `crossplane render` that mean nothing here."""
    for names in _MEANINGLESS:
        parameter = _IGNORED + names[0].removeprefix("--").replace("-", "_")
        command = click.option(*names, parameter, multiple=True, hidden=True)(command)
    return click.option("--verbose", f"{_IGNORED}verbose", is_flag=True, hidden=True)(command)


@click.command(epilog=_EXAMPLE)
@click.argument("composite_resource", metavar="XR")
@click.argument("composition", required=False, metavar="[COMPOSITION]")
@click.argument("functions", required=False, metavar="[FUNCTIONS]")
@click.option(
    "--observed-resources", "-o", "observed", metavar="PATH", help="Observed composed resources; a file or a folder."
)
@click.option(
    "--required-resources", "-e", "required", multiple=True, metavar="PATH",
    help="Resources that the function can require; a file or a folder; repeatable.",
)  # fmt: skip
@click.option(
    "--extra-resources", "extra", multiple=True, metavar="PATH", help="Deprecated name of --required-resources."
)
@click.option(
    "--include-function-results", "-r", "with_results", is_flag=True, help="Also print the function's results (events)."
)
@click.option("--include-full-xr", "-x", "with_xr", is_flag=True, help="Also print the spec and metadata of the XR.")
@click.option("--include-context", "-c", "with_context", is_flag=True, help="Also print the pipeline context.")
@click.option(
    "--context-values",
    metavar="KEY=JSON",
    multiple=True,
    help="Set a key of the pipeline context to a JSON value; repeatable.",
)
@click.option(
    "--context-files",
    metavar="KEY=FILE",
    multiple=True,
    help="Set a key of the pipeline context to the JSON value in a file.",
)
@click.option("--xrd", metavar="PATH", help="Apply the defaults of this XRD first.")
@click.option("--target", metavar="HOST:PORT", help="Call the function that is served there, over gRPC without TLS.")
@_meaningless
def render(  # noqa: PLR0917  (click passes them by name)
    composite_resource: str,
    composition: str | None,
    functions: str | None,  # noqa: ARG001  (of crossplane render; there is one function here)
    observed: str | None,
    required: tuple[str, ...],
    extra: tuple[str, ...],
    context_values: tuple[str, ...],
    context_files: tuple[str, ...],
    xrd: str | None,
    target: str | None,
    *,
    with_results: bool,
    with_xr: bool,
    with_context: bool,
    **ignored: object,
) -> None:
    """Compose one resource (XR) and print the result of one reconcile.

    Arguments, flags and output are the same as those of `crossplane render`. COMPOSITION and FUNCTIONS are accepted but
    not needed, because the function is part of this program. Flags that mean nothing here, such as --timeout, are named
    on standard error and ignored. Unknown fields are not errors.
    """
    from function.publish.xrd import STEP
    from function.sandbox import render as renderer
    from function.sandbox.errors import CannotRender, Unreachable

    _tell([name for name, value in ignored.items() if value])
    try:
        xr = _xr(composite_resource, xrd)
        context = _context(context_files, context_values)
        rendered = renderer.render(
            chosen(target),
            xr,
            step=STEP,
            composition=_composition(composition, xr),
            observed=[one.manifest for one in load([observed])] if observed else [],
            required=[one.manifest for one in load(_separated([*required, *extra]))],
        )
    except (BrokenFile, CannotRender, Unreachable) as problem:
        raise click.ClickException(str(problem)) from problem
    shown: list[dict[str, Any]] = [renderer.full(xr, rendered.xr) if with_xr else rendered.xr, *rendered.composed]
    shown += rendered.results if with_results else ()
    shown += [renderer.context(context)] if with_context and context else ()
    click.echo(yaml_text.documents(shown), nl=False)


def _tell(ignored: Sequence[str]) -> None:
    """Name the flags that are ignored."""
    flags = ["--" + name.removeprefix(_IGNORED).replace("_", "-") for name in ignored]
    if flags and not terminal.is_quiet():
        why = "the function runs in this program, without Docker and without projects"
        click.echo(f"ignored: {', '.join(sorted(flags))}; {why}", err=True)


def _separated(paths: Sequence[str]) -> list[str]:
    """Paths as crossplane takes them: several in one flag, with commas between them. A comma may be part of a name."""
    return [part for path in paths for part in ([path] if Path(path).exists() else path.split(","))]


def _context(files: Sequence[str], texts: Sequence[str]) -> dict[str, Any]:
    """The pipeline context. For a key that is given twice, the value wins over the file."""
    given: dict[str, Any] = {}
    for pair in (*files, *texts):
        key, separator, text = pair.partition("=")
        if not separator:
            raise click.UsageError(f"invalid context {pair}: use KEY=VALUE")
        given[key] = _first(values(text)) if pair in files else _parsed(key, text)
    return given


def _first(found: list[Any]) -> Any:
    return found[0] if found else None


def _parsed(key: str, text: str) -> Any:
    try:
        return _first(values_in(text, key))
    except BrokenFile as broken:
        raise click.UsageError(f"the context's value for {broken}") from broken


def _xr(path: str, xrd: str | None) -> Manifest:
    file, _, name = path.partition("#")
    candidates = [one for one in load([file]) if not name or _is_called(one, name)]
    ours = candidates if name else [one for one in candidates if one.kind in registry.COMPOSERS] or candidates
    if not ours:
        raise BrokenFile(file, f"has nothing called {name}" if name else "has no resource in it")
    if len(ours) > 1:
        called = ", ".join(f"{one.kind[1]}/{one.identity.name}" for one in ours)
        raise BrokenFile(file, f"has more than one resource; append #KIND/NAME to say which of {called}")
    xr = plain(ours[0].manifest)
    if xrd:
        _fill(xr, xrd)
    return xr  # type: ignore[no-any-return]  # plain keeps the shape of what it is given


def _is_called(loaded: Loaded, name: str) -> bool:
    return name in (loaded.identity.name, str(loaded.identity), f"{loaded.kind[1]}/{loaded.identity.name}")


def _fill(xr: dict[str, Any], xrd: str) -> None:
    from function.sandbox import admission, schemas

    definitions = [one.manifest for one in load([xrd])]
    kind = schemas.load(definitions).of(xr["apiVersion"], xr["kind"])
    if not kind.is_composite:
        raise BrokenFile(xrd, f"does not define {xr['kind']} of {xr['apiVersion']}")
    admission.fill(xr, kind.schema)


def _composition(path: str | None, xr: Manifest) -> str:
    """The Composition's name. A file is checked as `crossplane render` does."""
    if path is None:
        from function.publish.catalog import BY_KIND

        kind = BY_KIND.get((xr["apiVersion"], xr["kind"]))
        return kind.crd if kind else xr["kind"].lower()
    found = [one for one in load([path]) if one.kind[1] == "Composition"]
    if len(found) != 1:
        raise BrokenFile(path, f"must hold one Composition, and holds {len(found)}")
    _check_type(found, xr)
    return found[0].identity.name


def _check_type(found: Sequence[Loaded], xr: Manifest) -> None:
    composition = found[0]
    wanted = (composition.manifest.get("spec") or {}).get("compositeTypeRef") or {}
    for field, value in (("kind", xr["kind"]), ("apiVersion", xr["apiVersion"])):
        if wanted.get(field) != value:
            path = ("spec", "compositeTypeRef", field)
            problem = (
                f"composition's compositeTypeRef.{field} ({wanted.get(field)}) does not match XR's {field} ({value})"
            )
            raise BrokenFile(composition.source.file, problem, composition.source.position(path))
