"""The role definition in the examples: enough for every kind that is composed, no wildcard, and never more."""

from __future__ import annotations

import json
import re
from pathlib import Path

from function.clouds.aks import managed

FOLDER = Path(__file__).parents[4] / "examples/clouds/permissions"
ROLE = json.loads((FOLDER / "aks.json").read_text())
AZURE = {
    "ResourceGroup": "Microsoft.Resources/subscriptions/resourceGroups",
    "VirtualNetwork": "Microsoft.Network/virtualNetworks",
    "Subnet": "Microsoft.Network/virtualNetworks/subnets",
    "PublicIP": "Microsoft.Network/publicIPAddresses",
    "NATGateway": "Microsoft.Network/natGateways",
    # a part of the NAT gateway, and one of the subnet
    "NATGatewayPublicIPAssociation": "Microsoft.Network/natGateways",
    "SubnetNATGatewayAssociation": "Microsoft.Network/virtualNetworks/subnets",
    "UserAssignedIdentity": "Microsoft.ManagedIdentity/userAssignedIdentities",
    "RoleAssignment": "Microsoft.Authorization/roleAssignments",
    "KubernetesCluster": "Microsoft.ContainerService/managedClusters",
    "KubernetesClusterNodePool": "Microsoft.ContainerService/managedClusters/agentPools",
}
"""Azure's type of each kind."""


def test_everything_that_is_composed_can_be_made_and_deleted_and_nothing_else() -> None:
    changed = {action.rpartition("/")[0] for action in ROLE["Actions"] if action.endswith(("/write", "/delete"))}
    wanted = {AZURE[kind.kind] for kind in managed.KINDS}

    assert changed == wanted
    assert {f"{type_}/{verb}" for type_ in wanted for verb in ("read", "write", "delete")} <= set(ROLE["Actions"])


def test_operations_that_go_on_can_be_followed() -> None:
    """Azure answers most changes at once, and is asked for their results."""
    assert {
        "Microsoft.ContainerService/locations/operationresults/read",
        "Microsoft.ContainerService/locations/operations/read",
        "Microsoft.Network/locations/operationResults/read",
        "Microsoft.Network/locations/operations/read",
        "Microsoft.Resources/subscriptions/operationresults/read",
    } <= set(ROLE["Actions"])


def test_no_action_is_a_wildcard_or_listed_twice() -> None:
    assert not [action for action in ROLE["Actions"] if "*" in action]
    assert len(ROLE["Actions"]) == len(set(ROLE["Actions"]))
    assert ROLE["DataActions"] == []


def test_the_condition_admits_the_one_role_that_is_composed() -> None:
    """Azure's id of Network Contributor (built-in roles, Networking)."""
    condition = (FOLDER / "aks-condition.txt").read_text()

    assert set(re.findall(r"GuidEquals \{([^}]*)\}", condition)) == {"4d97b98b-1d4f-4787-a291-c67834d212e7"}
    assert condition.count("(") == condition.count(")")
    for action in ("write", "delete"):
        assert f"!(ActionMatches{{'Microsoft.Authorization/roleAssignments/{action}'}})" in condition
