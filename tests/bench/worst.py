"""Selectors made to take long: what the worst that is admitted costs to compile and to evaluate, of each kind.

Compiling is done once for a text, and evaluating once for a device that differs. Where Go is present, Kubernetes' own
library compiles the same texts beside; evaluating some of them takes it a minute, so that is left out.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from function import cel
from tests.conformance import programs

_DEVICE = cel.Device("d.example.com", tuple((f"a{i}", "x" * 64) for i in range(32)), (("memory", "80Gi"),))
_LONG = '"' + "a" * 4500 + '"'
_RUNS = 3


def _sums(times: int, then: str) -> str:
    """A list that is added to itself again and again."""
    for i in reversed(range(times)):
        then = f"cel.bind(b{i + 1}, b{i} + b{i}, {then})"
    return f"cel.bind(b0, lists.range(100), {then})"


def nested(times: int, then: str) -> str:
    """A list of the same lists of the same lists."""
    for i in reversed(range(times)):
        then = f"cel.bind(b{i + 1}, [{', '.join([f'b{i}'] * 60)}], {then})"
    return f"cel.bind(b0, lists.range(100), {then})"


SELECTORS: Mapping[str, str] = {
    "loop": "lists.range(140000).all(x, x >= 0)",
    "loop in a loop": "lists.range(350).all(x, lists.range(350).all(y, x + y >= 0))",
    "filter": "lists.range(55000).filter(x, x % 2 == 0).size() > 0",
    "map that grows": "lists.range(190000).transformMap(i, v, v).size() > 0",
    "failures": "lists.range(110000).exists(x, x / 0 == 1) || true",
    "numbers as text": "lists.range(90000).all(x, string(double(x) / 7.0) != '')",
    "format": 'lists.range(50000).all(x, "%d %s %.3f".format([x, x, 1.5]) != "")',
    "zones": 'lists.range(100000).all(x, timestamp(x * 86400).getHours("America/New_York") >= 0)',
    "sums of amounts": 'lists.range(90000).all(x, quantity("1Gi").add(quantity("1n")).isInteger() || true)',
    "amounts of many digits": 'lists.range(90000).all(x, quantity("1e99999").add(quantity("1")).isInteger() || true)',
    "sets": "sets.contains(lists.range(900), lists.range(900).map(x, x + 900))",
    "distinct": "lists.range(700).map(x, x).distinct().size() > 0",
    "sort": "lists.range(650).sortBy(x, -x).size() > 0",
    "optionals": "lists.range(35000).all(x, optional.of(x).optMap(y, y + 1).orValue(3) > 0)",
    "sums of lists": _sums(40, "b40.size() > 0"),
    "equal sums of lists": _sums(15, "b15 == b15"),
    "nested lists, equal": nested(5, "b5 == b5"),
    "text in text": f"cel.bind(a, {_LONG}, a.replace('', a).replace('', a).size() > 0)",
    "pattern": f'{_LONG}.matches("{"a?" * 1000}{"a" * 1000}")',
    "patterns": " || ".join(f'"x".matches("(((a{{10}}){{10}}){{9}}){i}")' for i in range(230)),
    "matches of a pattern": f'{_LONG}.findAll("{"(a|b)*c|" * 300}a").size() > 0',
    "matches in a loop": 'lists.range(50000).all(x, device.attributes["d.example.com"].a1.findAll(".").size() > 0)',
    "hosts": f"cel.bind(u, 'http://{'%c3' * 3000}', lists.range(9000).all(x, isURL(u)))",
    "queries": f"cel.bind(u, '/?{'a=%41&' * 1500}', lists.range(900).all(x, url(u).getQuery().size() == 1))",
    "paths": f"cel.bind(u, '/{' ' * 9000}', lists.range(300).all(x, url(u) == url(u)))",
    "names": f"cel.bind(s, '{'a-' * 2000}', lists.range(60).all(x, format.dns1123Label().validate(s).hasValue()))",
    "addresses": "lists.range(19000).all(x, cidr('2001:db8::/32').containsIP('2001:db8::1'))",
    "terms": "||".join(["(1/0==1)"] * 900),
    "lists": f"[{', '.join(['[1]'] * 1900)}].size() > 0",
    "maps": f"{{{', '.join(f'{i}: {i}' for i in range(900))}}}.all(k, k >= 0)",
    "conditions": "(true ? " * 120 + "true" + " : false)" * 120,
    "negations": "!" * 10_000 + "true",
    "parentheses": "(" * 249 + "true" + ")" * 249,
    "parentheses, too many": "(" * 5_000 + "true" + ")" * 5_000,
    "no end": '"' + "a" * 10_000,
}


def main() -> None:
    """Print the table: the least of several runs, in milliseconds, the slowest first. Whole deployments come after."""
    table = Table("selector", "bytes", "cost", "compile ms", "Kubernetes", "evaluate ms", "outcome")
    elsewhere = _elsewhere()
    rows = [(name, text, *_measured(text)) for name, text in SELECTORS.items()]
    for name, text, cost, compiling, evaluating, outcome in sorted(rows, key=lambda row: -(row[3] + row[4])):
        times = f"{compiling:.1f}", elsewhere[name], f"{evaluating:.1f}"
        table.add_row(name, f"{len(text):,}", cost, *times, outcome[:40])
    Console(width=132).print(table)


def _elsewhere() -> Mapping[str, str]:
    """What Kubernetes' library takes to compile each, in milliseconds: the least of several times."""
    if not programs.is_buildable():
        return dict.fromkeys(SELECTORS, "")
    texts = ["true", *SELECTORS.values()]
    questions = [{"expression": text, "compileOnly": True} for _ in range(_RUNS) for text in texts]
    took = [answer["nanoseconds"] for answer in programs.answers("oracle", questions)]
    least = [min(took[i :: len(texts)]) for i in range(1, len(texts))]
    return {name: f"{found / 1e6:.1f}" for name, found in zip(SELECTORS, least, strict=True)}


def _measured(text: str) -> tuple[str, float, float, str]:
    """Cost, compiling, evaluating, and what came of it."""
    found = min((_once(f"{text} // {run}") for run in range(_RUNS)), key=lambda one: one[1] + one[2])
    return found if len(text) < cel.TEXT_BYTES - 10 else _once(text)


def _once(text: str) -> tuple[str, float, float, str]:
    start = time.thread_time()
    try:
        selector = cel.admitted(text)
    except cel.InvalidSelector as invalid:
        return "", (time.thread_time() - start) * 1e3, 0.0, f"refused: {invalid.problem}"
    compiled = time.thread_time()
    outcome = selector.evaluate(_DEVICE)
    evaluated = time.thread_time()
    return f"{selector.cost:,}", (compiled - start) * 1e3, (evaluated - compiled) * 1e3, str(outcome)


if __name__ == "__main__":
    main()
    deployments = importlib.import_module("tests.bench.deployments")  # which takes its selectors from here
    deployments.main()
