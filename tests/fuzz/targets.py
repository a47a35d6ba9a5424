"""What coverage guides bytes through: the door, and everything of ours that reads a text.

A target is a function of bytes that returns faults. It is imported after its modules are instrumented, so it imports
them itself.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Run = Callable[[bytes], Iterable[str]]
_DATA = Path(__file__).parents[1] / "data"
_SEEDS = 400
"""Texts or requests with which a target begins, at most."""


@dataclass(frozen=True, slots=True)
class Target:
    load: Callable[[], Run]
    """Import what is tested, and return how."""
    seeds: Callable[[], Iterable[bytes]]
    modules: tuple[str, ...]
    """Packages whose coverage guides."""
    longest: int
    """Bytes of an input."""


def _door() -> Run:
    from tests.fuzz.laws import faults_of_bytes

    return faults_of_bytes


def _requests() -> Iterator[bytes]:
    from tests.fuzz.encoding import answered
    from tests.support.cases import CASES

    yield from sorted(map(answered, CASES[:: max(1, len(CASES) // _SEEDS)]), key=len)


def _selector() -> Run:
    from function import cel

    device = cel.Device(
        driver="gpu.nvidia.com",
        attributes=(("model", "H100"), ("cc", cel.Version("9.0.0")), ("n", 7), ("ecc", True)),
        capacity=(("memory", "80Gi"),),
    )

    def run(data: bytes) -> Iterable[str]:
        with suppress(cel.InvalidSelector):
            cel.compiled(data.decode(errors="surrogateescape")).evaluate(device)
        return ()

    return run


def _selectors() -> Iterator[bytes]:
    vectors = [vector["expression"] for vector in json.loads((_DATA / "cel" / "vectors.json").read_text())]
    random = json.loads(gzip.decompress((_DATA / "cel" / "fuzz.json.gz").read_bytes()))["cases"]
    texts = [*vectors, *(case[0] for case in random)]
    yield from (text.encode(errors="surrogatepass") for text in texts[:: max(1, len(texts) // _SEEDS)])


def _texts() -> Run:
    """Quantities, versions, addresses, URLs and patterns, as selectors read them."""
    from function.cel.golang import netip, resource, url_parser
    from function.cel.language.errors import Failure
    from function.cel.libraries import ip, semver
    from function.podspec import quantity

    readers: tuple[Callable[[str], object], ...] = (
        lambda text: resource.canonical(resource.parse(text)),
        lambda text: int(resource.parse(text)) + resource.parse(text).rounded_up(),
        semver.parse,
        lambda text: semver.parse(text, normalize=True),
        netip.parse_addr,
        ip.parse_ip,
        ip.parse_cidr,
        url_parser.parse,
        lambda text: quantity("memory", text),
    )

    def run(data: bytes) -> Iterable[str]:
        text = data.decode(errors="replace")
        for read in readers:
            with suppress(ValueError, OverflowError, Failure):
                read(text)
        return ()

    return run


_SAMPLES = (
    *("1", "80Gi", "500m", "1.5e3", "1E", "12e400", ".5", "-0", "9.0.0", "v1.2", "1.2.3-rc.1+b.7", "550.54.15"),
    *("10.0.0.0/8", "::ffff:10.0.0.1", "fe80::1%eth0", "2001:db8::/32", "192.0.2.10-192.0.2.20", "*.corp.example.com"),
    *("https://api.example.org/v1", "http://[::1]:8000/a?b#c", "https://u:p@a:1/%2F", "//a", "a:b"),
)


def _spellings() -> Iterator[bytes]:
    yield from (text.encode() for text in _SAMPLES)


def _template() -> Run:
    """A pod template as JSON, read as a deployment's, and the command line of its engine."""
    from function import podspec
    from function.engines import shell

    def run(data: bytes) -> Iterable[str]:
        try:
            template = json.loads(data)
        except (ValueError, RecursionError):
            for _ in shell.commands(data.decode(errors="replace"), {"A": "1 2"}, ["B"], ["x"]):
                pass
            return
        reading = podspec.read(template)
        yield from (f"a fault of no one line: {f.message!r}" for f in reading.faults if "\n" in f.message)

    return run


def _templates() -> Iterator[bytes]:
    from tests.support.template_cases import BAD, GOOD

    found = [*GOOD.values(), *(template for template, _ in BAD.values())]
    yield from (json.dumps(template).encode() for template in found)
    yield from (b'set -e; exec vllm serve $A ${B:-x} --port="$A"', b"if a; then b='c d'; fi; b+=(1 2); ${b[@]}")


def _spec() -> Run:
    """A text at every field of every kind that holds a text of a form: no rule and no pattern raises."""
    from function.publish.catalog import KINDS
    from function.schema import problems
    from tests.fuzz.places import replaced
    from tests.support.specs import SPECS

    samples = [(kind, spec) for kind in KINDS for spec in SPECS.get((kind.api_version, kind.kind), ())[:1]]
    places = [(kind, spec, path) for kind, spec in samples for path in _leaves(spec, ())]

    def run(data: bytes) -> Iterable[str]:
        kind, spec, path = places[int.from_bytes(data[:2], "big") % len(places)]
        for problem in problems(kind.spec, {"spec": replaced(spec, path, data[2:].decode(errors="replace"))}):
            if len(problem.message) > 32_768:
                yield f"{kind.kind} {problem.field}: a message of {len(problem.message)} characters"

    return run


def _leaves(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, str):
        yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in children:
        yield from _leaves(child, (*path, step))


def _placed_texts() -> Iterator[bytes]:
    yield from (number.to_bytes(2, "big") + text.encode() for number, text in enumerate(_SAMPLES * 8))


_MODELS = ("function.schema", "function.api", "function.clouds", "function.vocabulary")
TARGETS: Mapping[str, Target] = {
    "door": Target(_door, _requests, ("function",), 64 * 1024),
    "selectors": Target(_selector, _selectors, ("function.cel",), 4096),
    "texts": Target(_texts, _spellings, ("function.cel.golang", "function.cel.libraries", "function.podspec"), 512),
    "templates": Target(_template, _templates, ("function.podspec", "function.engines"), 8192),
    "specs": Target(_spec, _placed_texts, _MODELS, 1024),
}
