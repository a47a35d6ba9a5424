"""Renames a container of a pod template, with everything that refers to it by its name.

Two things refer to a container: a resourceFieldRef, of a variable or of a file in a volume, and annotations. Of the
annotations, some have the container's name in their key, such as AppArmor's, and one has it as its value.
"""

from __future__ import annotations

from typing import Any

from function.podspec.references import by_definition

REFERRING = ("ResourceFieldSelector",)
"""Definitions with a `containerName`. A test compares them with the schema."""
_SHOWN_FIRST = "kubectl.kubernetes.io/default-container"
"""Annotation that names the container whose logs kubectl shows (kubernetes.io, well-known annotations)."""


def rename(template: dict[str, Any], before: str, after: str) -> None:
    """Rename a container of a sound template, in place."""
    for definition in REFERRING:
        for reference in by_definition(template, definition):
            if reference.get("containerName") == before:
                reference["containerName"] = after
    for container in template["spec"]["containers"]:
        if container["name"] == before:
            container["name"] = after
    metadata = template.get("metadata", {})
    if annotations := metadata.get("annotations"):
        renamed = {_key(key, before, after): text for key, text in annotations.items()}
        first = {_SHOWN_FIRST: after} if annotations.get(_SHOWN_FIRST) == before else {}
        metadata["annotations"] = {**renamed, **first}


def _key(annotation: str, before: str, after: str) -> str:
    """Return the key of an annotation about one container, such as AppArmor's, for the container's new name."""
    domain, slash, container = annotation.partition("/")
    is_about_it = container == before and domain.startswith("container.")
    return f"{domain}{slash}{after}" if is_about_it else annotation
