"""The table of engines holds together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from function.engines import connectors, listening
from function.engines.routers import ROUTERS
from function.engines.server import Server
from function.engines.table import BY_NAME, ENGINES

SERVERS = (*ENGINES, *ROUTERS)


def test_names_are_unique() -> None:
    assert len(BY_NAME) == len(ENGINES)
    assert len({server.name for server in SERVERS}) == len(SERVERS)


@pytest.mark.parametrize("attribute", ["programs", "modules", "scripts", "images"])
def test_what_identifies_one_identifies_no_other(attribute: str) -> None:
    listed = [one for server in SERVERS for one in getattr(server, attribute)]
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.name)
def test_a_row_has_a_version_and_a_source(server: Server) -> None:
    assert re.match(r"\S.* v?b?\d[\d.]*: \S", server.source)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_a_row_is_consistent(engine: Server) -> None:
    """What it is given is among what it has, and flags are spelled as flags."""
    assert engine.gives_model in ("", *engine.model_flags)
    assert engine.gives_name in ("", *engine.name_flags)
    assert not engine.gives_name or engine.checks_names
    assert engine.entry_takes_flags or not engine.gives_model
    assert engine.port_flags or engine.port_variables
    assert engine.health.startswith("/")
    flags = [*engine.model_flags, *engine.name_flags, *engine.port_flags, *engine.host_flags, *engine.tls_flags]
    flags += [*engine.hub_flags, *engine.hub_lists, *engine.file_flags, *engine.block_flags, *dict(engine.hub_json)]
    assert [flag for flag in flags if not re.fullmatch(r"--?[a-z][\w-]*", flag)] == []


DOCS = Path(__file__).parents[3] / "docs" / "workloads.md"


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_the_documentation_has_the_facts_of_a_row(engine: Server) -> None:
    """Users see them in one table: health path, the flags that it is given, port and address."""
    line = next(
        line for line in DOCS.read_text().splitlines() if re.match(rf"\| {re.escape(engine.name)}( \(|\b)", line)
    )
    health, given, listens = (cell.strip() for cell in line.split("|")[2:5])
    assert health == f"`{engine.health}`"
    assert given == ", ".join(f"`{flag}`" for flag in (engine.gives_model, engine.gives_name) if flag)
    assert listens == f"{engine.port}, {'loopback' if listening.is_loopback(engine.host) else 'all'}"


def test_the_documentation_has_every_connector() -> None:
    text = DOCS.read_text()
    assert [name for name in connectors.KNOWN if f"`{name}`" not in text] == []
