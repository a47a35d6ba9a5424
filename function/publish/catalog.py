"""Our kinds as data: names, scope, models.

It discovers every module of `function.api` that declares a KIND, and those of the kinds by which clouds make clusters.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType

from function import api, clouds
from function.schema import Api, Audience, Column, Rule, Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What a kind's model module declares."""

    module: str
    """Name of the module with its model."""
    code: str
    """Name of the package with its composer."""
    api_version: str
    kind: str
    plural: str
    short_names: tuple[str, ...]
    scope: str
    """Namespaced or Cluster."""
    audience: Audience
    """Who writes its objects. It has no default, because RBAC and admission policies follow from it."""
    runs_in_namespace: bool
    """Whether pods run, or data is kept, in an object's namespace. Then that cannot be a reserved namespace."""
    columns: tuple[Column, ...]
    spec: type[Api]
    status: type[Api]
    description: str
    """One sentence that says what the kind is."""
    root_rules: tuple[Rule, ...] = ()
    """Rules over the whole object, metadata included."""
    scale: Scale | None = None

    @property
    def group(self) -> str:
        return self.api_version.partition("/")[0]

    @property
    def version(self) -> str:
        return self.api_version.partition("/")[2]

    @property
    def crd(self) -> str:
        """Name of the definition, and of the CRD that Crossplane generates from it."""
        return f"{self.plural}.{self.group}"


def _found() -> Iterator[Kind]:
    for name in sorted(module.name for module in pkgutil.iter_modules(api.__path__, f"{api.__name__}.")):
        module = importlib.import_module(name)
        if hasattr(module, "KIND"):
            yield _kind(module, f"function.kinds.{module.KIND.lower()}")
    for model in clouds.kinds():
        yield _kind(model, model.__name__.rpartition(".")[0])


def _kind(model: ModuleType, code: str) -> Kind:
    return Kind(
        module=model.__name__,
        code=code,
        api_version=model.API_VERSION,
        kind=model.KIND,
        plural=model.PLURAL,
        short_names=model.SHORT_NAMES,
        scope=model.SCOPE,
        audience=model.AUDIENCE,
        runs_in_namespace=model.SCOPE == "Namespaced" and model.RUNS_IN_NAMESPACE,
        columns=model.COLUMNS,
        spec=model.Spec,
        status=model.Status,
        description=inspect.cleandoc(model.__doc__ or ""),
        root_rules=getattr(model, "ROOT_RULES", ()),
        scale=getattr(model, "SCALE", None),
    )


KINDS: tuple[Kind, ...] = tuple(_found())
BY_KIND: Mapping[tuple[str, str], Kind] = {(kind.api_version, kind.kind): kind for kind in KINDS}
GROUPS = frozenset(kind.group for kind in KINDS)
