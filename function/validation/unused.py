"""Notes about objects that no other given object uses. They are applied all the same, and may be meant for later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from function.api import modelcache, modeldeployment
from function.core import Manifest, NamespacedName, dig, identity
from function.validation.finding import Finding


def notes(objects: Sequence[tuple[int, Manifest]]) -> Iterator[Finding]:
    """Yield the ModelCaches that no deployment names, among the objects, which need not be valid.

    Without a deployment nothing is known: they may be in another repository.
    """
    deployments = [manifest for _, manifest in objects if manifest["kind"] == modeldeployment.KIND]
    used = {
        NamespacedName(identity(manifest).namespace, str(dig(manifest, "spec", "modelCacheRef", "name")))
        for manifest in deployments
    }
    for index, manifest in objects:
        if manifest["kind"] == modelcache.KIND and deployments and identity(manifest) not in used:
            problem = "is of a ModelCache that no given ModelDeployment uses; its weights are staged all the same"
            yield Finding(index, ("metadata", "name"), problem, "unused")
