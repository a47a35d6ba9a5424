"""Instance types: their processors and accelerators by name, and their EFA interfaces by table."""

from __future__ import annotations

import re
from typing import Any

_NAME = re.compile(r"(?P<family>[a-z]+)[0-9]+(?P<options>[a-z]*)(-(?P<more>[a-z0-9]+))?[.]")
"""Parts of a name as EC2 gives them: p6e-gb200.36xlarge is of family p, with option e (page "Amazon EC2 instance type
naming conventions"). Option g is for Graviton; gb200 and gb300 have Grace processors."""
_WITHOUT_NVIDIA = ("g4ad",)
"""Types of families g and p with an accelerator of another make."""

EFA = {
    **dict.fromkeys(
        (
            "g4dn.8xlarge", "g4dn.12xlarge", "g4dn.16xlarge",
            "g5.8xlarge", "g5.12xlarge", "g5.16xlarge", "g5.24xlarge", "g5.48xlarge",
            "g6.8xlarge", "g6.12xlarge", "g6.16xlarge", "g6.24xlarge", "g6.48xlarge",
            "g6e.8xlarge", "g6e.12xlarge", "g6e.16xlarge", "gr6.8xlarge", "p5.4xlarge",
        ),
        1,
    ),
    "g6e.24xlarge": 2,
    "g6e.48xlarge": 4,
    "g7e.48xlarge": 4,
    "p4d.24xlarge": 4,
    "p4de.24xlarge": 4,
    "p5.48xlarge": 32,
    "p5e.48xlarge": 32,
    "p5en.48xlarge": 16,
    "p6-b200.48xlarge": 8,
    "p6-b300.48xlarge": 16,
}  # fmt: skip
"""EFA interfaces by instance type, each on a network card of its own (aws/karpenter-provider-aws, its metadata of EFA
devices; network cards: aws/amazon-vpc-cni-k8s, pkg/vpc/vpc_ip_resource_limit.go)."""
_FIRST_CARD_WITHOUT = ("p6-b300.48xlarge",)
"""Types whose first network card takes no EFA interface: 17 cards, 16 devices. There, AWS has each EFA interface as
device 0 of its card (aws/aws-parallelcluster#7143)."""


def is_arm(instance_type: str) -> bool:
    """Whether the processors of an instance type are of architecture arm64."""
    found = _NAME.match(instance_type)
    return found is not None and ("g" in found["options"] or (found["more"] or "").startswith("gb"))


def has_nvidia_gpus(instance_type: str) -> bool:
    """Whether an instance type is one of those with NVIDIA's GPUs."""
    found = _NAME.match(instance_type)
    named = found is not None and found["family"] in ("g", "gr", "p")
    return named and not instance_type.startswith(_WITHOUT_NVIDIA)


def interfaces(instance_type: str, security_groups: list[str]) -> list[dict[str, Any]]:
    """Return the network interfaces of a launch template for an instance type that has EFA.

    The first is the node's own, and has ENA too. The others have no IP: a node with several addresses does not join
    (page "Maximize network bandwidth on Amazon EC2 instances with multiple network cards", use case 1 of P5).
    """
    shifted = instance_type in _FIRST_CARD_WITHOUT
    first = _interface(0, 0, "interface" if shifted else "efa", security_groups)
    others = range(1, EFA[instance_type] + shifted)
    device = 0 if shifted else 1
    return [first, *(_interface(card, device, "efa-only", security_groups) for card in others)]


def _interface(card: int, device: int, kind: str, security_groups: list[str]) -> dict[str, Any]:
    return {
        "networkCardIndex": card,
        "deviceIndex": device,
        "interfaceType": kind,
        "deleteOnTermination": "true",
        "securityGroups": list(security_groups),
    }
