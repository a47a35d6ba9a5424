"""What the providers of clouds do with managed resources, step by step, and what clouds refuse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from function.contracts.cloud.managedkind import ManagedKind
from function.contracts.cloud.provisioner import Observation, Provisioner
from function.core import Manifest, dig, is_ready
from function.manifests.managed import managed_resource
from function.planning import looks
from function.planning.control_plane import kinds
from function.planning.faults import CreationFault, Faults
from function.planning.managed import Providers
from function.sandbox.store import Ref, Store, ref_of
from function.vocabulary import versions

GROUP = "sky.m.example.org/v1beta1"
TEAM = "modelplane-system"
NETWORK = ManagedKind(api_version=GROUP, kind="Network", plural="networks", immutable=("region", "ranges.podCidr"))
CLUSTER = ManagedKind(api_version=GROUP, kind="Cluster", plural="clusters", references={"networkIdRef": "Network"})
POOL = ManagedKind(api_version=GROUP, kind="Pool", plural="pools", references={"clusterRefs": "Cluster"})
CONFIG = {"apiVersion": GROUP, "kind": "ClusterProviderConfig", "metadata": {"name": "default"}, "spec": {}}


def observe(manifest: Manifest) -> Observation:
    name = manifest["metadata"]["name"]
    connection = {"kubeconfig": "a kubeconfig"} if manifest["kind"] == "Cluster" else {}
    size = dig(manifest, "spec", "forProvider", "size")
    seen = {"id": f"id-{name}", "size": size}
    return Observation(external_name=f"id-{name}", at_provider=seen, connection=connection)


CLOUD = Provisioner(
    model=None,  # type: ignore[arg-type]
    provider=GROUP,
    managed=(NETWORK, CLUSTER, POOL),
    packages=(),
    resources=lambda _site, _spec: (),
    secrets=lambda _site, _spec: (),
    observe=observe,
)


def resource(kind: ManagedKind, name: str, **asked: Any) -> dict[str, Any]:
    known = {k: asked.pop(k) for k in ("external_name", "secret", "management_policies") if k in asked}
    return managed_resource(
        api_version=GROUP,
        kind=kind.kind,
        name=name,
        namespace=TEAM,
        labels={},
        provider_config={"kind": "ClusterProviderConfig", "name": "default"},
        for_provider=asked,
        **known,
    )


NET = resource(NETWORK, "net", region="north", ranges={"podCidr": "10.0.0.0/16"})
MAIN = resource(CLUSTER, "main", networkIdRef={"name": "net"}, secret="main-kubeconfig")
GPUS = resource(POOL, "gpus", clusterRefs=[{"name": "main"}], size=2)
CHAIN = (NET, MAIN, GPUS)


class Sky:
    """A store with the providers of one cloud."""

    def __init__(self, *manifests: dict[str, Any], config: bool = True, **switched: Any) -> None:
        self.store, self.faults = Store(kinds()), Faults(**switched)
        self.providers = Providers(looks.kinds([CLOUD]))
        self.seen = -1
        for manifest in (*([CONFIG] if config else []), *manifests):
            self.store.load(manifest)

    def round(self, count: int = 1) -> None:
        for _ in range(count):
            news, self.seen = self.store.since(self.seen), self.store.version
            self.providers(self.store, news, self.faults)

    def settle(self) -> int:
        for count in range(1, 50):
            before = self.store.version
            self.round()
            if self.store.version == before and not self.providers.again:
                return count
        raise AssertionError("the providers do not come to rest")

    def get(self, manifest: Manifest) -> Any:
        return self.store.get(ref_of(manifest))

    def says(self, manifest: Manifest) -> list[str]:
        """Its conditions, in one line each."""
        found = dig(self.get(manifest), "status", "conditions") or ()
        said = (f"{c['type']}={c['status']} {c['reason']} {c.get('message', '')}".strip() for c in found)
        return sorted(said)

    def edit(self, manifest: Manifest, **wanted: Any) -> None:
        self.store.update(ref_of(manifest), lambda m: m["spec"]["forProvider"].update(wanted))

    def delete(self, *manifests: Manifest) -> None:
        for manifest in manifests:
            self.store.delete(ref_of(manifest))


def stages(sky: Sky, manifest: Manifest) -> Iterator[tuple[Any, list[str], bool]]:
    """After each round: the external name, the conditions, and whether atProvider is there."""
    while not is_ready(sky.get(manifest)):
        sky.round()
        found = sky.get(manifest)
        name = dig(found, "metadata", "annotations", "crossplane.io/external-name")
        yield name, sky.says(manifest), "atProvider" in found["status"]


CREATING = ["Ready=False Creating", "Synced=True ReconcileSuccess"]
AVAILABLE = ["LastAsyncOperation=True Success", "Ready=True Available", "Synced=True ReconcileSuccess"]


def test_without_faults_everything_is_ready_in_one_round() -> None:
    sky = Sky(*reversed(CHAIN))
    sky.round()

    assert [is_ready(sky.get(m)) for m in CHAIN] == [True] * 3
    assert sky.settle() <= 2


def test_in_steps_a_resource_is_requested_then_named_then_ready() -> None:
    sky = Sky(NET, in_steps=True)

    assert list(stages(sky, NET)) == [(None, CREATING, False), ("id-net", CREATING, False), ("id-net", AVAILABLE, True)]


def test_a_reference_waits_for_the_external_name_of_what_it_names() -> None:
    sky = Sky(MAIN, in_steps=True)
    sky.round()
    absent = sky.says(MAIN)
    sky.store.load(NET)
    sky.round(2)
    unnamed = sky.says(MAIN)
    sky.round(2)

    start = "Synced=False ReconcileError cannot resolve references: mg.Spec.ForProvider.NetworkID: "
    assert absent == [f'{start}cannot get referenced resource: Network.sky.m.example.org "net" not found']
    assert unnamed == [f"{start}referenced field was empty (referenced resource may not yet be ready)"]
    assert sky.says(MAIN) == CREATING


def test_a_reference_to_another_kind_resolves_to_nothing() -> None:
    sky = Sky(resource(NETWORK, "main"), GPUS)
    sky.settle()

    problem = 'cannot get referenced resource: Cluster.sky.m.example.org "main" not found'
    start = "Synced=False ReconcileError cannot resolve references: mg.Spec.ForProvider.Cluster: "
    assert sky.says(GPUS) == [start + problem]


def test_a_provider_config_is_awaited() -> None:
    sky = Sky(NET, config=False)
    sky.settle()
    before = sky.says(NET)
    sky.store.load(CONFIG)
    sky.settle()

    [said] = before
    assert said.startswith("Synced=False ReconcileError connect failed: ")
    assert said.endswith('ClusterProviderConfig.sky.m.example.org "default" not found')
    assert sky.says(NET) == AVAILABLE


def test_a_provider_config_in_use_stays_until_nothing_uses_it() -> None:
    sky = Sky(NET)
    sky.settle()
    sky.delete(CONFIG)
    held = sky.get(CONFIG) is not None
    sky.delete(NET)
    sky.settle()

    assert (held, sky.get(CONFIG), sky.get(NET)) == (True, None, None)


def test_a_name_that_the_manifest_carries_stays_and_others_wait_until_it_is_made() -> None:
    named = resource(CLUSTER, "main", external_name="prod", networkIdRef={"name": "net"})
    sky = Sky(named, GPUS, in_steps=True)
    sky.round(3)

    assert any("Cluster main does not exist" in said for said in sky.says(GPUS))
    sky.store.load(NET)
    sky.settle()
    assert dig(sky.get(named), "metadata", "annotations", "crossplane.io/external-name") == "prod"
    assert sky.says(GPUS) == AVAILABLE


def test_the_connection_secret_comes_with_readiness_and_belongs_to_the_resource() -> None:
    sky = Sky(NET, MAIN)
    secret = Ref(versions.CORE, "Secret", TEAM, "main-kubeconfig")
    sky.settle()
    found = sky.store.get(secret)
    sky.store.delete(secret)
    sky.settle()

    assert found is not None
    assert (found["data"], found["metadata"]["ownerReferences"][0]["name"]) == (
        {"kubeconfig": "YSBrdWJlY29uZmln"},
        "main",
    )
    assert dig(sky.store.get(secret), "data") == found["data"]


@pytest.mark.parametrize("title", ["gpus", "Pool"])
def test_a_refused_creation_says_why_in_the_clouds_words_until_it_recovers(title: str) -> None:
    sky = Sky(*CHAIN, creations={title: CreationFault("QuotaExceeded: 0 of 16 GPUs", attempts=2)})
    sky.round()
    failed = sky.says(GPUS)
    sky.settle()

    problem = "async create failed: failed to create the resource: [{0 QuotaExceeded: 0 of 16 GPUs  []}]"
    assert failed == [
        f"LastAsyncOperation=False AsyncCreateFailure {problem}",
        "Ready=False Creating",
        f"Synced=False ReconcileError create failed: {problem}",
    ]
    assert sky.says(GPUS) == AVAILABLE


def test_a_refusal_that_stays_lets_the_loop_end_and_one_that_is_switched_off_is_tried_again() -> None:
    sky = Sky(NET, creations={"Network": CreationFault("AccessDenied", is_async=False)})
    sky.settle()
    failed = sky.says(NET)
    sky.faults.creations.clear()
    sky.settle()

    assert failed == [
        "Ready=False Creating",
        "Synced=False ReconcileError create failed: failed to create the resource: [{0 AccessDenied  []}]",
    ]
    assert sky.says(NET) == AVAILABLE


def test_a_slow_resource_has_no_name_for_so_many_rounds() -> None:
    sky, slow = Sky(*CHAIN), Sky(*CHAIN, slow={"Cluster": 5})

    assert slow.settle() - sky.settle() >= 4
    assert slow.says(GPUS) == AVAILABLE


def test_one_that_never_becomes_ready_has_a_name_and_others_go_on() -> None:
    sky = Sky(*CHAIN, never_ready={"Cluster"})
    sky.settle()
    before = sky.says(MAIN), sky.says(GPUS)
    sky.faults.never_ready.clear()
    sky.settle()

    assert before == (CREATING, AVAILABLE)
    assert sky.says(MAIN) == AVAILABLE


@pytest.mark.parametrize(
    ("edit", "argument", "was", "wanted"),
    [
        ({"region": "south"}, "region", "north", "south"),
        ({"ranges": {"podCidr": "10.1.0.0/16"}}, "ranges.pod_cidr", "10.0.0.0/16", "10.1.0.0/16"),
    ],
)
def test_what_only_a_new_resource_could_have_is_refused(edit: Any, argument: str, was: str, wanted: str) -> None:
    sky = Sky(NET)
    sky.settle()
    sky.edit(NET, **edit)
    sky.settle()
    refused = sky.says(NET)
    sky.edit(NET, region="north", ranges={"podCidr": "10.0.0.0/16"})
    sky.settle()

    problem = "async update failed: refuse to update the external resource because the following update requires "
    problem += f'replacing it: cannot change the value of the argument "{argument}" from "{was}" to "{wanted}"'
    assert refused == [
        f"LastAsyncOperation=False AsyncUpdateFailure {problem}",
        "Ready=True Available",
        f"Synced=False ReconcileError update failed: {problem}",
    ]
    assert sky.says(NET) == AVAILABLE


def test_any_other_edit_is_made_at_once() -> None:
    sky = Sky(*CHAIN)
    sky.settle()
    sky.edit(GPUS, size=3)
    sky.settle()

    assert dig(sky.get(GPUS), "status", "atProvider", "size") == 3
    assert sky.says(GPUS) == AVAILABLE


def test_a_delete_in_steps_is_requested_and_then_done() -> None:
    sky = Sky(NET)
    sky.settle()
    sky.faults.in_steps = True
    sky.delete(NET)
    sky.round()
    going = sky.says(NET)
    sky.round()

    assert "Ready=False Deleting" in going
    assert (sky.get(NET), sky.providers.externals.there) == (None, {})


def test_what_others_use_is_refused_and_deleted_after_them() -> None:
    sky = Sky(*CHAIN)
    sky.settle()
    sky.delete(NET)
    sky.settle()
    refused = sky.says(NET)
    sky.delete(MAIN, GPUS)
    sky.settle()

    said = "DependencyViolation: Network net is used by Cluster main"
    problem = f"async delete failed: failed to delete the resource: [{{0 {said}  []}}]"
    assert refused == [
        f"LastAsyncOperation=False AsyncDeleteFailure {problem}",
        "Ready=False Deleting",
        f"Synced=False ReconcileError delete failed: {problem}",
    ]
    assert [sky.get(m) for m in CHAIN] == [None] * 3
    assert sky.providers.refusals[0] == said


def test_a_delete_in_the_right_order_is_never_refused() -> None:
    sky = Sky(*CHAIN)
    sky.settle()
    for manifest in reversed(CHAIN):
        sky.delete(manifest)
        sky.settle()

    assert (sky.providers.refusals, sky.providers.externals.there) == ([], {})


def test_one_whose_id_a_sibling_holds_is_in_use() -> None:
    owner = {"apiVersion": "v1", "kind": "X", "name": "x", "uid": "u", "controller": True}
    holder = resource(POOL, "holder", networks=["id-net"])
    for manifest in (net := resource(NETWORK, "net"), holder):
        manifest["metadata"]["ownerReferences"] = [owner]
    sky = Sky(net, holder)
    sky.settle()
    sky.delete(net)
    sky.settle()

    assert sky.providers.refusals == ["DependencyViolation: Network net is used by Pool holder"]


def test_one_whose_name_is_a_word_that_a_sibling_says_is_not_in_use() -> None:
    owner = {"apiVersion": "v1", "kind": "X", "name": "x", "uid": "u", "controller": True}
    pool, other = resource(POOL, "gpus", external_name="azure"), resource(CLUSTER, "main", networkPlugin="azure")
    for manifest in (pool, other):
        manifest["metadata"]["ownerReferences"] = [owner]
    sky = Sky(pool, other)
    sky.settle()
    sky.delete(pool)
    sky.settle()

    assert sky.get(pool) is None
    assert sky.providers.refusals == []


def test_what_the_provider_may_not_delete_stays_in_the_cloud() -> None:
    kept = resource(NETWORK, "net", management_policies=["Observe", "Create", "Update"])
    sky = Sky(kept)
    sky.settle()
    sky.delete(kept)
    sky.settle()

    assert sky.get(kept) is None
    assert list(sky.providers.externals.there) == [ref_of(kept)]


def test_what_was_never_made_is_deleted_at_once() -> None:
    sky = Sky(MAIN)
    sky.settle()
    sky.delete(MAIN)
    sky.settle()

    assert sky.get(MAIN) is None


def test_a_resource_of_a_dump_keeps_what_the_dump_says_of_it() -> None:
    sky = Sky(*CHAIN)
    sky.settle()
    dumped = [dict(sky.get(m)) for m in CHAIN]
    dumped[0]["status"] = {**dumped[0]["status"], "atProvider": {"id": "vpc-1", "arn": "real"}}
    again = Sky(*dumped)
    again.settle()

    assert dig(again.get(NET), "status", "atProvider") == {"id": "vpc-1", "arn": "real", "size": None}
    again.edit(NET, region="south")
    again.settle()
    assert "Ready=True Available" in again.says(NET)
    assert "Synced=False" in again.says(NET)[-1]


def test_a_copy_goes_its_own_way() -> None:
    sky = Sky(*CHAIN, in_steps=True)
    sky.round(2)
    copy = sky.providers.copied()
    there = dict(copy.externals.there)
    sky.settle()

    assert (copy.externals.there, len(sky.providers.externals.there)) == (there, 3)
