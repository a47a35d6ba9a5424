"""The egress proxy of an endpoint, run as its pods would run it: a real Envoy with the very files that are composed."""

import itertools
import json
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from function.manifests.envoy import addresses, places
from tests.e2e.processes import Process, healthy, listens, ports
from tests.e2e.programs import Site

numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Proxy:
    process: Process
    address: str
    port: int
    probe: int

    @property
    def url(self) -> str:
        return f"http://{self.address}:{self.port}"

    @property
    def is_ready(self) -> bool:
        """What a kubelet would see."""
        return healthy(self.probe, places.PROBE_PATH)()


@dataclass(frozen=True, slots=True)
class Mount:
    """A Secret as a kubelet mounts it: a link to a folder, exchanged when the Secret changes."""

    folder: Path

    def write(self, **files: str) -> None:
        """Exchange the files, in the order of a kubelet: links to new files follow the exchange (k8s.io/kubernetes
        v1.36.3, pkg/volume/util/atomic_writer.go)."""
        data, fresh = self.folder / "..data", self.folder / "..data_tmp"
        before = self.folder / data.readlink() if data.is_symlink() else None
        generation = self.folder / f"..{next(numbers)}"
        generation.mkdir(parents=True)
        for name, content in files.items():
            (generation / name).write_text(content)
        fresh.symlink_to(generation.name)
        fresh.replace(data)
        for link in (self.folder / name for name in files):
            if not link.is_symlink():
                link.symlink_to(Path(data.name) / link.name)
        for link in self.folder.iterdir():
            if not link.name.startswith("..") and link.name not in files:
                link.unlink()
        if before:
            shutil.rmtree(before)


@dataclass(frozen=True, slots=True)
class Composed:
    """What of an endpoint's proxy is read by Envoy: its files and its command line."""

    files: Mapping[str, str]
    arguments: Sequence[str]


def composed(
    config_map: Mapping[str, Any], deployment: Mapping[str, Any], *, is_loopback_outside: bool = True
) -> Composed:
    """What is composed. Providers of tests are on loopback, which no proxy may reach, so it counts as outside."""
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    files = config_map["data"]
    opened = {name: without_loopback(text) for name, text in files.items() if addresses.is_rule_file(name)}
    return Composed({**files, **(opened if is_loopback_outside else {})}, container["args"])


def without_loopback(rules: str) -> str:
    """Rules of denied addresses that leave loopback out."""
    [extension] = json.loads(rules)["resources"]
    denied = extension["typed_config"]["rules"]["policies"]["denied-address"]["permissions"][0]["or_rules"]
    denied["rules"] = [one for one in denied["rules"] if network(one) not in LOOPBACK]
    return json.dumps({"resources": [extension]})


def network(rule: Mapping[str, Any]) -> str:
    prefix = rule["matcher"]["typed_config"]["upstream_ip"]
    return f"{prefix['address_prefix']}/{prefix['prefix_len']}"


LOOPBACK = ("127.0.0.0/8", "::1/128", "::/96")


def start(site: Site, what: Composed, credential: Mount, roots: Path, address: str = "127.0.0.1") -> Proxy:
    """Only the ports and folders differ from those in a pod: here they are many."""
    port, probe = ports(2)
    number, arguments = placed(
        site, what, credential, roots, {places.PORT: (address, port), places.PROBE_PORT: ("127.0.0.1", probe)}
    )
    process = site.processes.start(f"egress-{number}", binary(site), *arguments, serves=listens(probe))
    return Proxy(process, address, port, probe)


def validate(site: Site, what: Composed, credential: Mount, roots: Path) -> str:
    """What Envoy says of it; the last line is its verdict."""
    _, arguments = placed(site, what, credential, roots, {})
    command = [binary(site), "--mode", "validate", *arguments]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    return done.stderr + done.stdout


def placed(
    site: Site, what: Composed, credential: Mount, roots: Path, sockets: dict[int, tuple[str, int]]
) -> tuple[int, list[str]]:
    """Write the files to a folder of their own, and give its number, and the arguments that lead there."""
    number = next(numbers)
    folder = site.folder / f"egress-{number}"
    files = {name: elsewhere(text, folder, credential.folder, roots) for name, text in what.files.items()}
    Mount(folder).write(**{**files, places.BOOTSTRAP_FILE: moved(files[places.BOOTSTRAP_FILE], sockets)})
    return number, [elsewhere(argument, folder, credential.folder, roots) for argument in what.arguments]


def binary(site: Site) -> Path:
    """The program itself: the script beside it would stay in between, and the signal to stop would not reach it."""
    version = sysconfig.get_python_version()
    return site.tools.parent / "lib" / f"python{version}" / "site-packages/envoy/_bin/envoy"


def elsewhere(text: str, place: Path, credential: Path, roots: Path) -> str:
    secrets = dict.fromkeys((places.CREDENTIAL_DIRECTORY, places.AUTHORITY_DIRECTORY), credential)
    where = {places.DIRECTORY: place, **secrets, places.ROOTS: roots}
    for theirs, ours in where.items():
        text = text.replace(theirs, str(ours))
    return text


def moved(bootstrap: str, sockets: dict[int, tuple[str, int]]) -> str:
    config = json.loads(bootstrap)
    for listener in config["static_resources"]["listeners"]:
        socket = listener["address"]["socket_address"]
        there = socket["address"], socket["port_value"]
        socket["address"], socket["port_value"] = sockets.get(socket["port_value"], there)
    return json.dumps(config)
