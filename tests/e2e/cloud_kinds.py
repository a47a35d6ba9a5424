"""The kinds of the clouds' providers, with the schemas and rules of their own definitions (tests/data/crds)."""

import json
from collections.abc import Iterator
from pathlib import Path

from function import clouds
from function.clouds import Provisioner
from function.vocabulary import versions
from tests.e2e.kube import Api, Object, says
from tests.e2e.waiting import until
from tests.support.foreign import CRDS

CRD = "apiextensions.k8s.io/v1"
CONFIG = "ClusterProviderConfig"


def kinds() -> Iterator[tuple[str, str, Provisioner]]:
    """Each managed kind, with the cloud that it is of."""
    for provisioner in clouds.PROVISIONERS:
        for kind in provisioner.managed:
            yield kind.api_version, kind.kind, provisioner


def define(api: Api) -> None:
    """Install the definitions of all kinds, and wait until they are served."""
    # The releases of the providers that reach clusters, as they are run here, do not know every cloud's identity.
    reaching = (versions.PROVIDER_KUBERNETES, versions.PROVIDER_HELM)
    configs = sorted({provisioner.provider for provisioner in clouds.PROVISIONERS}.union(reaching))
    wanted = [*(each[:2] for each in kinds()), *((api_version, CONFIG) for api_version in configs)]
    definitions = [definition(path_of(*each)) for each in wanted]
    api.apply(*definitions)
    until(lambda: all(says(api.current(one), "Established") for one in definitions), "the kinds of clouds")


def path_of(api_version: str, kind: str) -> Path:
    return CRDS / f"{api_version.replace('/', '_')}_{kind}.json"


def definition(path: Path) -> Object:
    """The CustomResourceDefinition of a kind, with its provider's schema and rules."""
    found = json.loads(path.read_text())
    group, kind, plural = found["group"], found["kind"], found["plural"]
    return {
        "apiVersion": CRD,
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "scope": found["scope"],
            "versions": [
                {
                    "name": found["version"],
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": found["schema"]},
                    "subresources": {"status": {}},
                }
            ],
        },
    }
