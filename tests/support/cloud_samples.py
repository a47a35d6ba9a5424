"""An InferenceClass and an InferenceCluster of each cloud that makes clusters, and the provider config for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from function.clouds import Provisioner, Source
from function.core import Manifest, plain
from function.vocabulary import names, versions

_EXAMPLES = Path(__file__).parents[2] / "examples" / "classes"
CREDENTIALS = "cloud-credentials"
"""The Secret, and its key, with the credentials of a provider config."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What is special to one cloud."""

    class_name: str
    """An InferenceClass in examples/classes, in the file that has the cloud's name."""
    block: Mapping[str, Any] = field(default_factory=dict)
    """The cloud's block of an InferenceCluster."""


SAMPLES: Mapping[str, Sample] = {
    "GKE": Sample("gke-l4-1x-g2", {"region": "us-central1"}),
    "EKS": Sample("eks-l4-1x-g6", {"region": "us-east-1"}),
    "AKS": Sample("aks-a100-pcie-1x-nc", {"location": "eastus"}),
    "Nebius": Sample("nebius-h100-1x"),
    "Vultr": Sample("vultr-h100-8x", {"region": "mia"}),
    "Toy": Sample("toy-l4", {"region": "toy-1"}),
}
"""By the name of the source. Toy is in tests/support/toycloud."""
_TOY = {
    "apiVersion": versions.MODELPLANE,
    "kind": "InferenceClass",
    "metadata": {"name": "toy-l4"},
    "spec": {
        "devices": [{"name": "gpu", "driver": "gpu.nvidia.com", "deviceClassName": "gpu.nvidia.com", "count": 1}],
        "provisioning": {"provider": "Toy", "toy": {"size": "large"}},
    },
}


def provisioner(source: Source) -> Provisioner:
    """Return the provisioner of a source that has one."""
    assert source.provisioner
    return source.provisioner


def inference_class(source: Source) -> dict[str, Any]:
    """Return the InferenceClass of a cloud's sample."""
    if source.name == "Toy":
        return _TOY
    [found] = [m for m in examples(source.block) if m["metadata"]["name"] == SAMPLES[source.name].class_name]
    return found


def examples(block: str) -> list[dict[str, Any]]:
    """Return the InferenceClasses of a cloud in examples/classes; none where it has none there."""
    return [plain(manifest) for manifest in _examples(block)]


@cache
def _examples(block: str) -> tuple[Manifest, ...]:
    path = _EXAMPLES / f"{block}.yaml"
    return tuple(m for m in yaml.safe_load_all(path.read_text()) if m) if path.exists() else ()


def inference_cluster(source: Source, name: str, *pools: Mapping[str, Any], **block: Any) -> dict[str, Any]:
    """Return an InferenceCluster of a cloud.

    Args:
        source: The cloud.
        name: Its name.
        pools: Its node pools, without className.
        block: More fields of the cloud's block.
    """
    sample = SAMPLES[source.name]
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": name, "labels": {"tier": "gpu"}},
        "spec": {
            "cluster": {"source": source.name, source.block: {**sample.block, **block}},
            "nodePools": [{"className": sample.class_name, **pool} for pool in pools],
        },
    }


def provider_config(provisioner: Provisioner) -> dict[str, Any]:
    """Return the default provider config of a cloud, which takes its credentials from the Secret CREDENTIALS."""
    reference = {"namespace": names.SYSTEM_NAMESPACE, "name": CREDENTIALS, "key": CREDENTIALS}
    return {
        "apiVersion": provisioner.provider,
        "kind": "ClusterProviderConfig",
        "metadata": {"name": "default"},
        "spec": {**provisioner.assumed_config, "credentials": {"source": "Secret", "secretRef": reference}},
    }


def credentials(*, key: str = CREDENTIALS) -> dict[str, Any]:
    """Return the Secret with the credentials."""
    return {
        "apiVersion": versions.CORE,
        "kind": "Secret",
        "metadata": {"name": CREDENTIALS, "namespace": names.SYSTEM_NAMESPACE},
        "data": {key: "e30="},
    }
