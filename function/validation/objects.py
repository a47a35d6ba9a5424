"""One object: its kind and version, its name, its spec, and the rules over the whole."""

from __future__ import annotations

import re
from collections.abc import Iterator

from function import names
from function.catalog import BY_KIND, Kind
from function.core import Manifest, dig
from function.schema import LABEL, SUBDOMAIN, problems
from function.validation.flaw import Flaw


def flaws(index: int, manifest: Manifest, kind: Kind) -> Iterator[Flaw]:
    """What is wrong with an object of a kind of ours."""
    yield from _name(index, manifest)
    yield from _namespace(index, manifest, kind)
    for problem in problems(kind.spec, manifest):
        yield Flaw(index, problem.path, problem.message, problem.code)
    for rule in kind.root_rules:
        if rule.holds is not None and not rule.holds(manifest):
            yield Flaw(index, tuple(rule.at.split(".")), rule.message, "rule")


def unserved(index: int, manifest: Manifest) -> Flaw:
    """Of an object of one of our groups whose kind, or version, there is not."""
    api_version, kind = manifest["apiVersion"], manifest["kind"]
    served = sorted(version for version, known in BY_KIND if known == kind)
    if served:
        return Flaw(
            index, ("apiVersion",), f"must be {', '.join(served)} for kind {kind}, not {api_version}", "api-version"
        )
    known = ", ".join(sorted({known for _, known in BY_KIND}))
    return Flaw(index, ("kind",), f"must be one of {known}, not {kind}", "api-version")


def _name(index: int, manifest: Manifest) -> Iterator[Flaw]:
    name = str(dig(manifest, "metadata", "name") or "")
    if not re.fullmatch(SUBDOMAIN, name):
        said = "must be lower-case letters, digits, dashes and dots, with a letter or digit around every dot"
        yield Flaw(index, ("metadata", "name"), said, "name")
    elif len(name) > names.DNS_LABEL:
        said = f"must have up to {names.DNS_LABEL} characters, not {len(name)}: Crossplane writes it into a label"
        yield Flaw(index, ("metadata", "name"), said, "name")


def _namespace(index: int, manifest: Manifest, kind: Kind) -> Iterator[Flaw]:
    namespace = dig(manifest, "metadata", "namespace")
    if namespace is None:
        return
    if kind.scope == "Cluster":
        yield Flaw(index, ("metadata", "namespace"), f"is not for kind {kind.kind}, which is cluster-scoped", "name")
    elif len(str(namespace)) > names.DNS_LABEL or not re.fullmatch(LABEL, str(namespace)):
        said = "must be up to 63 lower-case letters, digits and dashes, with a letter or digit at both ends"
        yield Flaw(index, ("metadata", "namespace"), said, "name")
