"""Objects as YAML, written as Go programs write it (sigs.k8s.io/yaml): sorted keys, texts that look like something else
in double quotes, texts of many lines as blocks, long ones folded at 80 columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from function.core import plain


def documents(manifests: Iterable[Mapping[str, Any]], *, is_sorted: bool = True) -> str:
    """Objects, each after a line with `---`, as kubectl and crossplane print several."""
    return "".join(f"---\n{document(manifest, is_sorted=is_sorted)}" for manifest in manifests)


def document(manifest: Mapping[str, Any], *, is_sorted: bool = True) -> str:
    """One object. Its keys are sorted, or in their own order for people to read."""
    return yaml.dump(plain(manifest), Dumper=_Dumper, sort_keys=is_sorted, allow_unicode=True, default_flow_style=False)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  (the base's signature)
        return True


_AMBIGUOUS = re.compile(
    r"""^(?:
    |~|null|Null|NULL|<<|=
    |y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF
    |[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*)
    |[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?
    |[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)
    |[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?
    |[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ].*)?
    )$""",
    re.VERBOSE,
)
"""Texts that Go's YAML 1.1 library would read as another type."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    style = "|" if "\n" in value else '"' if _AMBIGUOUS.match(value) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)
