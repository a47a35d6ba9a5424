"""The pages of a platform team, followed from an empty control cluster: install, upgrade, back up, move, uninstall.

The tests build on each other, in their order.
"""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest

from package import build
from tests.e2e import installation, objects, pages, pins
from tests.e2e.installation import Cluster, Platform
from tests.e2e.kube import Api, Object
from tests.e2e.pages import Block
from tests.e2e.programs import Site
from tests.e2e.waiting import until

EDGE = "starter"
PAGES = ("install.md", "upgrade.md", "backup.md", "uninstall.md")
INSTALLED = ("1.", "2.", "3.", "4.")
KUBERNETES = {"default", "kube-node-lease", "kube-public", "kube-system"}
NOT_RUN = {
    "install.md": 4,
    "upgrade.md": 0,
    "backup.md": 0,
    "uninstall.md": 1,
}


@dataclass(slots=True)
class Story:
    """A platform, and the cluster on which its models run."""

    platform: Platform
    edge: Cluster
    site: Site
    store: int
    stack: ExitStack
    before: set[str] = field(default_factory=set)

    def move(self) -> Platform:
        """An empty control cluster beside the old one."""
        moved = self.stack.enter_context(installation.platform(self.site, self.store, "moved", pins.NEWEST))
        shutil.copy(self.platform.checkout / "starter.kubeconfig", moved.checkout)
        shutil.copytree(self.platform.checkout / "backup", moved.checkout / "backup")
        return moved


@pytest.fixture(scope="module")
def story(site: Site, store: int) -> Iterator[Story]:
    before = tuple(site.processes.running)
    controllers = ("garbage-collector-controller", "namespace-controller")
    try:
        with ExitStack() as stack:
            edge = stack.enter_context(installation.cluster(site, store, EDGE, "198.18.0.2", *controllers))
            installation.edge(site, edge.api)
            platform = stack.enter_context(installation.platform(site, store, "control", pins.NEWEST))
            (platform.checkout / "starter.kubeconfig").write_text(edge.api.from_outside())
            yield Story(platform, edge, site, store, stack, everything(edge.api))
    finally:
        site.processes.stop(*(one for one in site.processes.running if one not in before))


def followed(platform: Platform, blocks: tuple[Block, ...]) -> list[str]:
    """Run blocks of a page. Give every line that it shows and that no command printed."""
    strange = []
    for block in blocks:
        if not block.why_not:
            print(f"run    {block.title}", flush=True)
            printed = platform.run(block)
            print(printed, flush=True)
            line = pages.differs(block.shown, printed)
            strange += [f"{block.title}: {line}"] if line else []
    return strange


def of(page: str, *sections: str) -> tuple[Block, ...]:
    return tuple(one for one in pages.blocks(page) if one.section.startswith(sections or ("",)))


def everything(api: Api) -> set[str]:
    """All objects that can be listed, but for what Kubernetes itself makes."""
    found = set()
    for version in ("v1", *(one["preferredVersion"]["groupVersion"] for one in api.send("GET", "/apis")["groups"])):
        prefix = f"/apis/{version}" if "/" in version else f"/api/{version}"
        for kind in api.send("GET", prefix)["resources"]:
            if "/" not in kind["name"] and "list" in kind["verbs"] and kind["name"] not in ("events", "leases"):
                items = (api.look(f"{prefix}/{kind['name']}") or {"items": []})["items"]
                found |= {title(kind["kind"], one) for one in items}
    return found


def title(kind: str, target: Object) -> str:
    metadata = target["metadata"]
    return "/".join((kind, *filter(None, (metadata.get("namespace"), metadata["name"]))))


def tells(platform: Platform, kind: str, name: str, *parts: str) -> None:
    """Wait until a condition of an object has all parts of a message, and nothing of a Secret."""

    def said() -> str:
        found = platform.control.api.find(objects.GROUP, kind, name) or {}
        return " ".join(one.get("message", "") for one in found.get("status", {}).get("conditions", ()))

    told = until(said, f"{kind} {name} to say {parts}", holds=lambda seen: all(part in seen for part in parts))
    assert "hunter2" not in told


def workloads(api: Api) -> dict[str, tuple[str, int]]:
    """What serves: a new UID or generation would mean new pods."""
    found = api.list("apps/v1", "Deployment", "ml-team")
    return {one["metadata"]["name"]: (one["metadata"]["uid"], one["metadata"]["generation"]) for one in found}


@pytest.mark.parametrize("page", PAGES)
def test_what_is_not_run_is_counted_and_has_a_reason(page: str) -> None:
    assert len([one for one in pages.blocks(page) if one.why_not]) == NOT_RUN[page]
    assert any(not one.why_not for one in pages.blocks(page))


def test_the_page_of_the_install_is_followed(story: Story) -> None:
    assert followed(story.platform, of("install.md", *INSTALLED)) == []


def test_what_is_missing_is_told_with_what_gives_it(story: Story) -> None:
    """The namespace, the rights of a provider, and a kubeconfig in the Secret of a cluster."""
    platform = story.platform
    platform.shell("kubectl delete -f package/namespace.yaml -f package/providers.yaml")
    platform.shell("kubectl apply -f examples/first-model/platform.yaml")
    tells(
        platform, "InferenceGateway", "default", "Namespace modelplane-system does not exist", "package/namespace.yaml"
    )

    platform.shell("kubectl apply -f package/namespace.yaml")
    platform.shell(
        "kubectl -n modelplane-system create secret generic starter-kubeconfig --from-literal=kubeconfig=hunter2"
    )
    provider = "ServiceAccount crossplane-system/provider-kubernetes may not patch customresourcedefinitions"
    tells(platform, "InferenceGateway", "default", provider, 'resources: ["customresourcedefinitions"], verbs: [patch]')
    tells(platform, "InferenceCluster", "starter", "the Secret holds no kubeconfig", "starter-kubeconfig")

    platform.shell("kubectl apply -f package/providers.yaml")
    platform.shell("kubectl -n modelplane-system delete secret starter-kubeconfig")


def test_the_page_of_the_install_leads_to_a_served_model(story: Story) -> None:
    assert followed(story.platform, of("install.md")[len(of("install.md", *INSTALLED)) :]) == []
    assert workloads(story.edge.api)


def test_an_upgrade_touches_no_model(story: Story) -> None:
    before = workloads(story.edge.api)
    story.platform.publish("v0.2.0")

    assert followed(story.platform, of("upgrade.md")) == []

    revisions = story.platform.control.api.list("pkg.crossplane.io/v1", "FunctionRevision")
    states = {one["spec"]["image"]: one["spec"]["desiredState"] for one in revisions}
    assert {image.rpartition(":")[2]: state for image, state in states.items()} == {
        f"v{build.version()}": "Inactive",
        "v0.2.0": "Active",
    }
    assert workloads(story.edge.api) == before


def test_another_control_cluster_takes_over_what_serves(story: Story) -> None:
    before = workloads(story.edge.api)
    assert followed(story.platform, of("backup.md", "Back up", "Move")) == []

    moved = story.move()
    assert followed(moved, of("install.md", *INSTALLED)) == []
    assert followed(moved, of("backup.md", "Restore")) == []

    assert workloads(story.edge.api) == before
    story.platform = moved


def test_nothing_is_left_where_the_page_of_the_uninstall_was_followed(story: Story) -> None:
    assert followed(story.platform, of("uninstall.md")) == []

    assert everything(story.edge.api) - story.before == set()
    left = {one for one in everything(story.platform.control.api) if "odelplane" in one or "rossplane" in one}
    assert left == set()
