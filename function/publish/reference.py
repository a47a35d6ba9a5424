"""The API reference in Markdown: a page for every kind, a line for every field, from the fields' descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from function.publish import examples, markdown, reasons, runbooks, variables, xrd
from function.publish.catalog import Kind

_NOTE = "<!-- Written by `modelplane generate` from the models. Edit those. -->"


def page_name(kind: Kind) -> str:
    return f"{kind.kind.lower()}.md"


def index(kinds: Iterable[Kind], others: Iterable[tuple[str, str]]) -> str:
    """Return the page that lists all kinds, and other pages by title and file name."""
    also = ["## See also", "", *(f"- [{title}]({page})" for title, page in others)]
    return "\n".join([_NOTE, "", "# API reference", "", *_groups(kinds), *also]) + "\n"


def page(kind: Kind) -> str:
    """Return the page of a kind."""
    schema = xrd.schema(kind)["properties"]
    lines = [
        _NOTE,
        "",
        f"# {kind.kind}",
        "",
        kind.description,
        "",
        f"`{kind.api_version}` · {kind.scope} · `kubectl get {kind.plural}` (short: {_codes(kind.short_names)})",
        "",
        *_example(kind),
        *_section("spec", schema["spec"]),
        *(variables.section() if "engines" in schema["spec"]["properties"] else ()),
        *_section("status", schema["status"]),
        *_conditions(kind),
        *_columns(kind),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


def _groups(kinds: Iterable[Kind]) -> Iterator[str]:
    for group, members in groupby(
        sorted(kinds, key=lambda kind: (len(kind.group), kind.kind)), lambda kind: kind.group
    ):
        yield from (f"## {group}", "", "| kind | short | scope | what it is |", "|---|---|---|---|")
        yield from (_row(kind) for kind in members)
        yield ""


def _row(kind: Kind) -> str:
    description = markdown.cell(kind.description)
    return f"| [{kind.kind}]({page_name(kind)}) | {_codes(kind.short_names)} | {kind.scope} | {description} |"


def _example(kind: Kind) -> Iterator[str]:
    if example := examples.text(kind):
        yield from ("## Example", "", "```yaml", example.rstrip("\n"), "```", "")


def _section(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"## {name}", "", "`*` is required.", "", "| field | type | description |", "|---|---|---|")
    yield from (f"| {' | '.join(markdown.cell(text) for text in field)} |" for field in _fields("", schema))
    rules = list(_rules("", schema))
    if rules:
        yield from ("", "Rules between fields:", "")
        yield from (f"- {rule}" for rule in rules)
    yield ""


def _conditions(kind: Kind) -> Iterator[str]:
    found = reasons.of(kind)
    if found:
        yield from ("## Conditions", "", "| condition | status | reason | message |", "|---|---|---|---|")
        yield from (
            f"| {reason.type} | {reason.status} | {runbooks.link(reason.reason)} | {markdown.template(reason)} |"
            for reason in found
        )
        yield ""


def _columns(kind: Kind) -> Iterator[str]:
    yield from ("## Columns of `kubectl get`", "", "| column | field | |", "|---|---|---|")
    for column in xrd.columns(kind):
        shown = "with `-o wide`" if column.wide else ""
        yield f"| {column.name} | `{column.path.removeprefix('.')}` | {shown} |"


def _fields(path: str, schema: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield path, type and description of every field below a schema, in the model's order."""
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        here = f"{path}{name}"
        yield f"`{here}`" + (" *" if name in required else ""), _type(field), field.get("description", "")
        yield from _fields(f"{here}.", field)
        yield from _fields(f"{here}[].", field.get("items", {}))
        yield from _fields(f"{here}.<key>.", field.get("additionalProperties", {}))


def _rules(path: str, schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield rules between fields. The rules of a single text are part of its field's description."""
    for rule in schema.get("x-kubernetes-validations", ()) if schema.get("type") != "string" else ():
        yield (f"`{path.rstrip('.')}`: " if path else "") + rule["message"]
    for name, field in schema.get("properties", {}).items():
        yield from _rules(f"{path}{name}.", field)
        yield from _rules(f"{path}{name}[].", field.get("items", {}))
        yield from _rules(f"{path}{name}.<key>.", field.get("additionalProperties", {}))


def _type(schema: Mapping[str, Any]) -> str:
    parts = [_base(schema), _range(schema)]
    if schema.get("enum"):
        parts.append(" \\| ".join(f"`{value}`" for value in schema["enum"]))
    if "default" in schema and not isinstance(schema["default"], dict):
        parts.append(f"default `{_plainly(schema['default'])}`")
    return ", ".join(filter(None, parts))


def _base(schema: Mapping[str, Any]) -> str:
    if "x-kubernetes-int-or-string" in schema or "type" not in schema:  # only quantities have no type
        return "quantity"
    match schema["type"]:
        case "array":
            return f"list of {_plural(_base(schema['items']))}"
        case "object" if "additionalProperties" in schema:
            return f"map of {_plural(_base(schema['additionalProperties']))}"
        case other:
            return str(other)


def _plural(name: str) -> str:
    return {"quantity": "quantities"}.get(name, f"{name}s")


def _range(schema: Mapping[str, Any]) -> str:
    for least, most in (("minimum", "maximum"), ("minItems", "maxItems"), ("minProperties", "maxProperties")):
        if most in schema:
            return f"{schema.get(least, 0)} to {schema[most]}"
    return f"{schema.get('minLength', 0)} to {schema['maxLength']} characters" if "maxLength" in schema else ""


def _plainly(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
