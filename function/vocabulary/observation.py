"""What the observer on an inference cluster and the function tell each other: the keys, and the bounds of the texts.

Terms:

- A *declaration* is what an InferenceCluster declares of its pools. The control plane writes it, and the observer
  compares the nodes with it.
- An *observation* is what the nodes of a cluster really have, and who holds it. The observer writes it.
- *Pod reasons* tell why the pods of replicas wait or fail, for one namespace. The observer writes them.

Each is JSON text in a ConfigMap of its own in SYSTEM_NAMESPACE of the inference cluster (names.declared,
names.observed, names.pod_reasons). The observer is older or newer than the function for a while after an upgrade, so
every text carries VERSION, and a reader does not believe another one.
"""

from enum import StrEnum

VERSION = 1
"""Version of all three texts. It changes when an earlier reader would misread a text."""
DECLARED_KEY = "declared.json"
OBSERVED_KEY = "observed.json"
REASONS_KEY = "reasons.json"
MOST_OBSERVED = 256 * 1024
"""Bytes of an observation. Names of nodes are left out of a longer one."""
MOST_DEVICES = 64
"""Devices of one entry that are reported of a node. Of more, so many are."""
MOST_UNKNOWN = 1024
"""Devices that no entry describes, on one node. Of more, so many are reported."""
MOST_HOLDERS = 1024
"""Workloads that are reported of one node, and pods of one of them."""
MOST_AMOUNT = 2**60
"""Bytes, or millicores: an exbibyte of memory is no node's. Of more, so much is reported."""
MOST_REASONS = 64 * 1024
"""Bytes of the pod reasons of a namespace."""
MOST_MESSAGE = 512
"""Characters of one text of the kubelet, the scheduler or a container."""


class NodeState(StrEnum):
    """Whether new pods can be scheduled on a node. The first state that applies."""

    NOT_READY = "NotReady"
    CORDONED = "Cordoned"
    TAINTED = "Tainted"
    """It has a NoSchedule or NoExecute taint that the pods of replicas do not tolerate."""
    READY = "Ready"
