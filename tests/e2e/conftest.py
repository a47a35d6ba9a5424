"""What the stories share: one inference cluster, and one control cluster for each release of Crossplane in its turn."""

import functools
import itertools
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e import audit, builds, compared, control, fleet, inference, network, objects, pins, pki, programs
from tests.e2e.control import Control
from tests.e2e.kube import Api, says
from tests.e2e.processes import Processes, ports
from tests.e2e.programs import Site
from tests.e2e.team import Team, title
from tests.e2e.waiting import until

SITE = pytest.StashKey[Site]()
numbers = itertools.count(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--crossplane", help="only the tests with this release of Crossplane, or only those without one")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = config.getoption("--crossplane")
    left = [one for one in items if wanted not in (None, release(one))]
    items[:] = [one for one in items if one not in left]
    config.hook.pytest_deselected(items=left)


def release(item: pytest.Item) -> str:
    """Which Crossplane a test runs against."""
    callspec = getattr(item, "callspec", None)
    return str(callspec.params.get("crossplane", pins.NO_CROSSPLANE)) if callspec else pins.NO_CROSSPLANE


def pytest_configure() -> None:
    """End on SIGTERM as on Ctrl-C: the first process of a namespace of numbers ignores what it has no handler for."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.fixture(scope="session")
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    """A temporary folder with certificates. It stays when a test failed; what was started is stopped in any case."""
    toolchain = builds.toolchain()
    assert toolchain, "the end-to-end tests need Go"
    root = builds.cache()
    folder = Path(tempfile.mkdtemp(prefix="modelplane-e2e-"))
    site = Site(folder, pki.issue(folder / "pki"), Processes(folder), root, toolchain, builds.install(root))
    request.config.stash[SITE] = site
    with network.turn(root):
        try:
            yield site
        finally:
            site.processes.stop()
    wrong = compare(site, request.config)
    if request.session.testsfailed or wrong:
        print(f"logs   {folder / 'log'}")
    else:
        shutil.rmtree(folder)
    assert not wrong, "\n".join(wrong)


def compare(site: Site, config: pytest.Config) -> list[str]:
    """Keep the rights that were used in this run, and tell which of them are not granted."""
    found = audit.read(site.folder)
    assert config.cache
    config.cache.set(compared.KEY, compared.kept(found))
    return compared.problems(found, compared.granted(site)) if found else []


@pytest.fixture(scope="session")
def store(site: Site) -> int:
    return programs.etcd(site)


@pytest.fixture(scope="session")
def cluster(site: Site, store: int) -> Api:
    """The inference cluster."""
    return inference.start(site, store)


@pytest.fixture(scope="session")
def plaintext(site: Site) -> str:
    """Address of our function for renderers, which speak plain text."""
    (port,) = ports(1)
    programs.function(site, "render", port, insecure=True)
    return f"127.0.0.1:{port}"


@pytest.fixture(scope="session", params=pins.CROSSPLANES)
def crossplane(request: pytest.FixtureRequest, site: Site, store: int, cluster: Api) -> Iterator[Control]:
    """The control cluster, with a release of Crossplane."""
    before = tuple(site.processes.running)
    try:
        yield control.start(site, store, request.param)
    finally:
        site.processes.stop(*(one for one in site.processes.running if one not in before))


@pytest.fixture(scope="session")
def published(crossplane: Control, cluster: Api) -> Control:
    """The control cluster with hardware and inference clusters, all of them Ready."""
    api, clusters = crossplane.api, [objects.cluster(one) for one in (fleet.WEST, fleet.EAST)]
    api.apply(objects.namespace(objects.SYSTEM))
    api.apply(*(objects.inference_class(one) for one in fleet.HARDWARE))
    for one in clusters:
        api.apply(objects.secret(one["metadata"]["name"], kubeconfig=cluster.from_outside()))
    api.apply(*clusters)
    for one in clusters:
        until(functools.partial(api.current, one), f"{title(one)} to be Ready", holds=lambda seen: says(seen, "Ready"))
    return crossplane


@pytest.fixture
def team(published: Control, cluster: Api) -> Iterator[Team]:
    yield from tenant(published, cluster)


@pytest.fixture
def other(published: Control, cluster: Api) -> Iterator[Team]:
    yield from tenant(published, cluster)


def tenant(control: Control, cluster: Api) -> Iterator[Team]:
    """A namespace that no other test uses. What a test deployed in it is taken away, for the nodes are few."""
    team = Team(control, cluster, f"team-{next(numbers)}")
    control.api.apply(objects.namespace(team.namespace))
    yield team
    for deployment in control.api.list(objects.GROUP, "ModelDeployment", team.namespace):
        control.api.delete(deployment)
    team.await_room()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Show the logs' ends beside a failure."""
    report = yield
    site = item.config.stash.get(SITE, None)
    if report.failed and site:
        report.sections += [(f"log of {one.name}", one.tail()) for one in site.processes.running]
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name each program and its version, before pytest counts."""
    terminalreporter.section("programs")
    for module in pins.MODULES:
        terminalreporter.write_line(f"{module.title}  ({module.path})")
