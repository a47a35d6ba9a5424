"""Every reason has a runbook page, which says what the product says; and every page is of a reason."""

from __future__ import annotations

import ast
import re
import shlex
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from function import cel
from function.core import Reason
from function.main import main
from function.publish import runbooks, xrd
from function.publish.catalog import KINDS, Kind
from function.scheduling import rejection
from function.vocabulary import conditions
from tests.support.cases import CASES

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / runbooks.FOLDER
NAMES = sorted({*runbooks.of_conditions(), *runbooks.of_rejections()})
PAGES = [*sorted(FOLDER.glob("*.md")), ROOT / "docs/troubleshooting.md"]
HEALTHY = ("Message", "Meaning")
UNHEALTHY = ("Message", "Meaning", "Impact", "Diagnosis", "Mitigation")
ALSO = "See also"
RARE: tuple[rejection.Reason, ...] = (
    rejection.BeingDeleted(),
    rejection.DevicesMissing("h100", 1, ("gpu-2",), "gpu", 8, 7),
    rejection.HoldsOther("research/older-4d5c6153"),
    rejection.NodesNotReady("h100", 2, ("gpu-3", "gpu-4")),
    rejection.NodesTainted("h100", 1, ("gpu-2",), "example.com/maintenance:NoSchedule"),
    rejection.NodeTooSmall("vllm", "Standalone", "memory", 400 * 2**30, 192 * 2**30),
    rejection.OutOfStock("l4", "QuotaExceeded: no l4 left"),
    rejection.SearchLimit(),
)
"""Rejections of which no golden case has a message."""
each_name = pytest.mark.parametrize("name", NAMES)
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def text(name: str) -> str:
    return (ROOT / runbooks.path(name)).read_text()


def sections(name: str) -> list[str]:
    return re.findall(r"^## (.*)$", text(name), re.MULTILINE)


def section(name: str, title: str) -> str:
    return text(name).partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def reasons_of(name: str) -> list[Reason]:
    return [reason for _, reason in runbooks.of_conditions().get(name, ())]


@cache
def golden() -> dict[str, set[str]]:
    """The messages of the golden cases, of conditions and rejections, by reason."""
    found = defaultdict(set)
    for case in CASES:
        head = re.split(r"^(?:events|requirements|resources):", (case / "want.yaml").read_text(), flags=re.MULTILINE)[0]
        want = yaml.load(head, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        for line in want.get("conditions") or ():
            reason, _, message = line.partition(" ")[2].partition(": ")
            found[reason].add(message)
        for one in (want.get("status") or {}).get("rejections") or ():
            found[one["reason"]].add(one["message"])
    return found


def in_tests(name: str) -> Iterator[str]:
    """Every text of the tests of kinds that know a reason."""
    for path in (ROOT / "tests/unit/kinds").rglob("*.py"):
        source = path.read_text()
        if f'"{name}"' in source:
            constants = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
            yield from (value for value in constants if isinstance(value, str))


# The pages


def test_every_reason_has_a_page_and_every_page_a_reason() -> None:
    assert sorted(page.stem for page in FOLDER.glob("*.md") if page.stem != "README") == NAMES


def test_no_reason_of_a_condition_is_missed() -> None:
    """A kind's reasons are found in its code. Those that no kind mentions would have no page."""
    declared = {value.reason for value in vars(conditions).values() if isinstance(value, Reason)}

    assert declared - set(NAMES) == set()


def test_reasons_are_declared_in_one_place() -> None:
    """Besides the one that every kind has (`undecided`)."""
    made = re.compile(r"\b[A-Z_]+\.(?:true|false|unknown|waiting)\(\s*\"|type_\.unknown\(")
    modules = {path for path in (ROOT / "function").rglob("*.py") if made.search(path.read_text())}

    declaring = {path.relative_to(ROOT).as_posix() for path in modules}

    assert declaring == {"function/core/condition.py", "function/vocabulary/conditions.py"}


def test_a_reason_and_a_rejection_never_share_a_name() -> None:
    """A page could be about one of them only."""
    assert runbooks.of_conditions().keys() & runbooks.of_rejections().keys() == set()


def test_the_heads_are_generated() -> None:
    stale = [path for path, wanted in runbooks.files(ROOT).items() if (ROOT / path).read_text() != wanted]

    assert stale == []


def test_a_head_names_conditions_kinds_and_messages() -> None:
    head = runbooks.head("WaitingForCluster")

    cluster, replica = (
        "[InferenceCluster](../reference/inferencecluster.md)",
        "[ModelReplica](../reference/modelreplica.md)",
    )
    waiting = "Waiting for InferenceCluster &lt;cluster&gt;: &lt;why&gt;"
    assert head.splitlines()[6:] == [
        f"| BackendReady | False | {cluster} | &lt;why&gt; |",
        f"| ModelAccepted | False | {replica} | {waiting} |",
    ]


def test_a_head_is_replaced_and_the_sections_stay(tmp_path: Path) -> None:
    page = tmp_path / runbooks.path("Stale")
    page.parent.mkdir(parents=True)
    page.write_text("# Old\n\nedited\n\n## Message\n\nthe text\n\n## Meaning\n")

    got = runbooks.files(tmp_path)

    assert got == {runbooks.path("Stale"): f"{runbooks.head('Stale')}\n## Message\n\nthe text\n\n## Meaning\n"}


@each_name
def test_a_page_has_its_sections(name: str) -> None:
    """That of a reason with which all is well may be short."""
    statuses = {reason.status for reason in reasons_of(name)}
    accepted = (HEALTHY, UNHEALTHY) if statuses == {"True"} else (UNHEALTHY,)

    assert tuple(title for title in sections(name) if title != ALSO) in accepted
    assert all(section(name, title).strip() for title in sections(name))


@each_name
def test_a_page_is_short_and_not_empty(name: str) -> None:
    body = "\n".join(section(name, title) for title in sections(name) if title != "Message")

    assert 25 < len(body.split()) < 600


@each_name
def test_a_message_is_one_that_the_product_writes(name: str) -> None:
    """As a golden case has it, or, where none has the reason, a class or a test of its kind."""
    quoted = [
        m for block in re.findall(r"```text\n(.*?)```", section(name, "Message"), re.DOTALL) for m in block.splitlines()
    ]
    rare = {one.detail() for one in RARE if type(one).__name__ == name}
    known = golden().get(name) or rare or set(in_tests(name))

    assert (quoted != [], [message for message in quoted if message not in known]) == (True, [])


def test_only_rare_rejections_are_made_up() -> None:
    assert [one for one in RARE if type(one).__name__ in golden()] == []


def test_troubleshooting_leads_to_everything_that_can_be_wrong() -> None:
    led = set(links(ROOT / "docs/troubleshooting.md"))
    wrong = {name for name in NAMES if {"True"} != {reason.status for reason in reasons_of(name)}}

    assert {name for name in wrong if f"runbooks/{name}.md" not in led} == set()


def test_troubleshooting_lists_the_events_that_are_no_transition() -> None:
    sources = (path.read_text() for path in (ROOT / "function").rglob("*.py"))
    declared = {name for source in sources for name in re.findall(r'\bEventReason\(\s*"(\w+)"', source)}

    text = (ROOT / "docs/troubleshooting.md").read_text()

    assert set(re.findall(r"^\| `(\w+)` \| (?:Model|Inference)", text, re.MULTILINE)) == declared != set()


# What the pages tell people to do


def commands(page: Path) -> Iterator[str]:
    for block in re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL):
        yield from block.replace("\\\n", " ").splitlines()


def options(words: list[str]) -> set[str]:
    """The options that a command of ours has. Fails if there is no such command."""
    command: click.Command = main
    for word in words:
        if isinstance(command, click.Group):
            found = command.get_command(click.Context(command), word)
            assert found is not None, word
            command = found
    return {option for param in command.params for option in param.opts}


@each_page
def test_commands_of_ours_exist_and_have_the_options(page: Path) -> None:
    ours = [shlex.split(line)[1:] for line in commands(page) if line.startswith("modelplane ")]

    unknown = [{word for word in words if word.startswith("-")} - options(words) for words in ours]

    assert set().union(*unknown) == set()


@each_page
def test_other_commands_are_kubectls(page: Path) -> None:
    programs = {line.split()[0] for line in commands(page)}

    assert programs <= {"modelplane", "kubectl"}


def test_selectors_that_are_shown_are_accepted() -> None:
    lines = [shlex.split(line) for page in PAGES for line in commands(page) if line.startswith("modelplane cel ")]

    assert [cel.admitted(expression) for _, _, _, expression, *_ in lines] != []


@each_page
def test_paths_that_kubectl_prints_exist(page: Path) -> None:
    """Those of our kinds. Conditions are Crossplane's."""
    asked = [(kind, path) for line in commands(page) for kind in kind_of(line) for path in printed(line)]

    assert [path for kind, path in asked if not is_field(path, xrd.schema(kind))] == []


def kind_of(line: str) -> list[Kind]:
    """The kind of ours that a command of kubectl gets; none if it is another one."""
    named = re.match(r"kubectl (?:get|describe) (\w+) ", line)
    return [kind for kind in KINDS if named and named.group(1) in (kind.plural, kind.kind.lower(), *kind.short_names)]


def printed(line: str) -> list[str]:
    """The paths in spec and status that a command of kubectl prints."""
    paths = [found.replace("[*]", "[]") for found in re.findall(r"\.((?:spec|status)(?:\.\w+|\[\*\])+)", line)]
    return [path for path in paths if not path.startswith("status.conditions")]


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    """To a file that is there, and to a heading that is in it."""
    assert [link for link in links(page) if not is_there(page, *link.partition("#")[::2])] == []


def links(page: Path) -> list[str]:
    return re.findall(r"\]\(([^)]+)\)", page.read_text())


def is_there(page: Path, path: str, heading: str) -> bool:
    target = page.parent / path if path else page
    return target.exists() and (not heading or heading in anchors(target))


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def is_field(path: str, schema: dict[str, Any]) -> bool:
    """Whether a schema has a field. Below a field that takes anything, everything is one."""
    if not path or schema.get("x-kubernetes-preserve-unknown-fields"):
        return True
    name, _, rest = path.partition(".")
    field = schema.get("properties", {}).get(name.removesuffix("[]"), schema.get("additionalProperties"))
    if isinstance(field, dict):
        return is_field(rest, field.get("items", field) if name.endswith("[]") else field)
    return bool(field)


@cache
def schemas() -> list[dict[str, Any]]:
    return [xrd.schema(kind) for kind in KINDS]


@each_page
def test_fields_that_are_named_exist(page: Path) -> None:
    """In the spec or the status of some kind."""
    named = set(re.findall(r"`((?:spec|status)\.[\w.\[\]]+)", page.read_text()))

    assert {field for field in named if not any(is_field(field, schema) for schema in schemas())} <= FOREIGN


FOREIGN = {"spec.runtimeConfigRef", "status.parents"}
"""Fields of kinds of others."""
