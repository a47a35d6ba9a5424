"""The proxy of a ModelService, run as its pods would run it: a real Envoy with the very files that are composed.

What a kubelet and Crossplane would do is played: the files of the ConfigMap and of Secrets are exchanged as a kubelet
exchanges them, and what was composed is observed in the next pass.
"""

import contextlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from function import registry
from function.core import Request, Result, plain
from function.manifests.envoy import addresses, places
from function.sandbox.settle import settle
from tests.e2e import egress, objects
from tests.e2e.client import call
from tests.e2e.egress import Mount
from tests.e2e.kube import Object
from tests.e2e.processes import Process, healthy, ports
from tests.e2e.programs import Site

numbers = itertools.count(1)
GATEWAY = objects.gateway() | {"status": {"address": "192.0.2.80"}}
CONFIG, PODS = "proxy-config", "proxy"  # keys of composed resources
SERVED_NAMES = "modelplane.ai/served-model-name"
MOST_PASSES = 5


# What is composed


def service(*entries: Object, name: str = "chat", namespace: str = objects.TEAM, **spec: Any) -> Object:
    return objects.of("ModelService", name, namespace, endpoints=list(entries), **spec)


def entry(is_: str, **more: Any) -> Object:
    """An entry of a service, over the endpoints that `endpoint` names or labels so."""
    return {"selector": {"matchLabels": {"is": is_}}, **more}


def endpoint(
    name: str,
    url: str,
    *,
    served: str = "",
    labels: Mapping[str, str] | None = None,
    namespace: str = objects.TEAM,
    **spec: Any,
) -> Object:
    """A ModelEndpoint that is Ready and has published how it is reached, as its own composer says it.

    `served` are the model names that it answers to, if they are known, separated by commas.
    """
    made = objects.endpoint(name, namespace, url=url, **spec)
    made["metadata"]["labels"] = {"is": name, **(labels or {})}
    made["metadata"]["annotations"] = {SERVED_NAMES: served} if served else {}
    standing = {key: stands(one.manifest) for key, one in compose(made).resources.items()}
    status = plain(compose(made, observed=standing).status)
    assert status.get("routing"), f"{name} was not published"
    return made | {"status": {**status, "conditions": [{"type": "Ready", "status": "True"}]}}


def compose(xr: Object, found: Iterable[Object] = (), observed: Mapping[str, Any] | None = None) -> Result:
    """What the function says of an object, once all that it asks for was looked up."""
    return settle(registry.compose, Request(xr=xr, observed=observed or {}), [GATEWAY, *found])


def stands(manifest: Any) -> Object:
    """A composed resource as it is observed once its pods run and the gateway has accepted it."""
    found: Object = plain(manifest)
    if found["kind"] == "Deployment":
        count = found["spec"]["replicas"]
        counts = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), count)
        found["status"] = counts
    if found["kind"] == "HTTPRoute":
        [parent] = found["spec"]["parentRefs"]
        said = [{"type": kind, "status": "True"} for kind in ("Accepted", "ResolvedRefs")]
        found["status"] = {"parents": [{"parentRef": parent, "conditions": said}]}
    return found


# What runs


@dataclass(slots=True)
class Running:
    """A proxy, and what a kubelet keeps for its pods."""

    site: Site
    folder: Path
    sockets: Mapping[int, tuple[str, int]]
    """Where each port of a pod is here."""
    observed: dict[str, Object] = field(default_factory=dict)
    process: Process | None = None
    secrets: dict[str, Mount] = field(default_factory=dict)
    found: tuple[Object, ...] = ()
    """What can be found in the namespace of the service, as it was said last."""

    @property
    def url(self) -> str:
        address, port = self.sockets[places.PORT]
        return f"http://{address}:{port}"

    @property
    def probe(self) -> int:
        return self.sockets[places.PROBE_PORT][1]

    @property
    def config(self) -> Mount:
        return Mount(self.folder / "config")

    def secret(self, name: str, **data: str) -> None:
        """Write a Secret, or exchange it. A name's underscores are dashes: `api_key` is the key api-key."""
        mount = self.secrets.setdefault(name, Mount(self.folder / "secrets" / name))
        mount.write(**{key.replace("_", "-"): value for key, value in data.items()})

    def configure(self, xr: Object, *found: Object) -> Result:
        """Compose a service until nothing changes, and hand the pods what is composed."""
        self.found = found
        for _ in range(MOST_PASSES):
            result = compose(xr, found, self.observed)
            composed = {key: stands(one.manifest) for key, one in result.resources.items()}
            assert CONFIG in composed, f"the service needs no proxy: {[one.message for one in result.conditions]}"
            if composed == self.observed:
                break
            self.observed = composed
        self.write()
        return result

    def write(self) -> None:
        """Mount Secrets, then exchange the configuration."""
        for volume in self.observed[PODS]["spec"]["template"]["spec"]["volumes"]:
            name = volume.get("secret", {}).get("secretName")
            if name and name not in self.secrets:
                self.secret(name)  # an optional Secret that is not there is mounted without files
        files = self.observed[CONFIG]["data"]
        self.config.write(**{name: self.here(name, text) for name, text in files.items()})

    def here(self, name: str, text: str) -> str:
        """A file with the folders and ports of this machine. Only those differ from a pod's."""
        where = {
            places.DIRECTORY: self.config.folder,
            places.SECRETS_DIRECTORY: self.folder / "secrets",
            places.ROOTS: self.site.pki.authority,
            places.ADMIN: f"{places.ADMIN}-{self.folder.name}",
        }
        for theirs, ours in where.items():
            text = text.replace(theirs, str(ours))
        if addresses.is_rule_file(name):
            return egress.without_loopback(text)  # providers of tests are there
        return self.moved(text) if name == places.LISTENERS_FILE else text

    def moved(self, text: str) -> str:
        listeners = json.loads(text)
        for listener in listeners["resources"]:
            if socket := listener.get("address", {}).get("socket_address"):
                socket["address"], socket["port_value"] = self.sockets[socket["port_value"]]
        return json.dumps(listeners)

    def start(self) -> None:
        [container] = self.observed[PODS]["spec"]["template"]["spec"]["containers"]
        arguments = [self.here("", argument) for argument in container["args"]]
        ready = healthy(self.probe, places.PROBE_PATH)
        self.process = self.site.processes.start(self.folder.name, egress.binary(self.site), *arguments, serves=ready)

    def stop(self) -> None:
        if self.process and self.process.runs:
            self.site.processes.stop(self.process)

    @property
    def log(self) -> str:
        """What Envoy has said so far, but for its end."""
        assert self.process
        lines = self.process.log.read_text(errors="replace").splitlines()
        return "\n".join(line for line in lines if line and "caught ENVOY_SIGTERM" not in line)

    def metric(self, name: str) -> int:
        """The sum of a metric over all clusters and listeners."""
        text = call(f"http://127.0.0.1:{self.probe}", places.METRICS_PATH).body.decode()
        lines = (line for line in text.splitlines() if line.startswith((f"{name}{{", f"{name} ")))
        return sum(int(line.rpartition(" ")[2]) for line in lines)


@contextlib.contextmanager
def running(
    site: Site, xr: Object, *found: Object, secrets: Mapping[str, Mapping[str, str]] | None = None, address: str = ""
) -> Iterator[Running]:
    """Run the proxy of a service over what can be found in its namespace. `secrets` are there before it starts."""
    made = placed(site, address or "127.0.0.1")
    for name, data in (secrets or {}).items():
        made.secret(name, **data)
    made.configure(xr, *found)
    made.start()
    try:
        yield made
    finally:
        made.stop()


def placed(site: Site, address: str = "127.0.0.1") -> Running:
    """A place for a proxy: a folder, and ports."""
    port, probe = ports(2)
    folder = site.folder / f"service-{next(numbers)}"
    return Running(site, folder, {places.PORT: (address, port), places.PROBE_PORT: ("127.0.0.1", probe)})
