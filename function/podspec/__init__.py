"""Kubernetes' PodTemplateSpec: its schema, its validation, what it refers to, and the Pod Security Standards.

- `definitions`: the types of Kubernetes' own schema (`schema.json`, data of the Kubernetes project).
- `reading`: checks a template, and returns it in one form. This is what the API's models call.
- `tables`, `rules`: what Kubernetes validates beyond types, as tables over the schema and as functions.
- `reserved`: fields that Modelplane sets, and what to write instead.
- `engine_container`: which container is the engine.
- `container_names`: renames a container, with all that refers to it.
- `references`: the Secrets, ConfigMaps and claims that a template names.
- `requests`: what a pod requests of its node.
- `uncounted`: what else may keep a pod off a node.
- `declared`: the part of the schema that our XRDs declare.
"""

from function.podspec.declared import declared
from function.podspec.definitions import VERSION
from function.podspec.engine_container import ENGINE, engine_index
from function.podspec.fault import Fault
from function.podspec.reading import MOST_BYTES, Reading, read
from function.podspec.references import Reference, claims, references, renamed
from function.podspec.requests import quantity, requested
from function.podspec.rules.probes import GRACE_SECONDS
from function.podspec.uncounted import uncounted
from function.scheduling import RESOURCES

__all__ = [
    "ENGINE",
    "GRACE_SECONDS",
    "MOST_BYTES",
    "RESOURCES",
    "VERSION",
    "Fault",
    "Reading",
    "Reference",
    "claims",
    "declared",
    "engine_index",
    "quantity",
    "read",
    "references",
    "renamed",
    "requested",
    "uncounted",
]
