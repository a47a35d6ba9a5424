"""Plants canaries in a request at every place where a secret may be.

Places are found by the shape of objects, so that a new golden case is planted without anything to add here.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from function.core import Request, dig
from tests.support.canaries import Canary

Object = dict[str, Any]
MOST_BROKEN = 8
"""Fields of one object that are broken, each in a copy of it."""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
OURS = "modelplane.ai/"
_TOO_LONG = 48_000
"""Characters. No token, kubeconfig or key has as many."""
_NAMED = re.compile(r"TOKEN|KEY|PASS|SECRET|CRED", re.IGNORECASE)


WRONG: Mapping[str, Callable[[str], Any]] = {
    "no base64": lambda value: f"{value}!",
    "cut base64": lambda value: base64.b64encode(value.encode()).decode().rstrip("=")[:-1],
    "NUL": lambda value: base64.b64encode(f"\0{value}\0".encode()).decode(),
    "no UTF-8": lambda value: base64.b64encode(b"\xff" + value.encode()).decode(),
    "too long": lambda value: base64.b64encode((value * 2000)[:_TOO_LONG].encode()).decode(),
    "a URL": lambda value: base64.b64encode(f"http://u:{value}@h:port".encode()).decode(),
    "a map": lambda value: {value: value},
    "a list": lambda value: [value],
    "empty key": lambda value: {"": {"": value}},
}
"""What a value of a Secret is that cannot be used, made of what it should be."""


@dataclass
class Planter:
    """Canaries by the place where each was planted."""

    refused: bool = False
    """Whether every foreign object that is observed was refused, by a provider that quotes what it refuses."""
    words: bool = False
    """Whether the canaries are words."""
    wrong: str = ""
    """The key of WRONG by which values of Secrets are spoiled. Empty if they are as they should be."""
    canaries: dict[str, Canary] = field(default_factory=dict)

    def canary(self, place: str) -> Canary:
        return self.canaries.setdefault(place, Canary(place, self.words))

    def form(self, place: str) -> Canary:
        """A canary whose form tells that it is one, whatever the others are."""
        return self.canaries.setdefault(place, Canary(place))

    def secret(self, manifest: Object) -> None:
        """Plant a Secret's values, each in the shape that it has."""
        name = f"{dig(manifest, 'metadata', 'namespace')}/{dig(manifest, 'metadata', 'name')}"
        for encoded, data in ((True, manifest.get("data")), (False, manifest.get("stringData"))):
            for key in data if isinstance(data, dict) else ():
                value = _shaped(self.canary(f"Secret {name} {key}"), key, str(data[key]))
                good = base64.b64encode(value.encode()).decode() if encoded else value
                data[key] = WRONG[self.wrong](value) if self.wrong else good

    def metadata(self, manifest: Object, where: str) -> None:
        """Plant what kubectl apply leaves of an object with a secret in it, and a field's manager."""
        metadata = manifest.setdefault("metadata", {})
        applied = {"kind": manifest.get("kind"), "stringData": {"token": self.canary(f"last-applied {where}").token}}
        if not isinstance(metadata.get("annotations"), dict):
            metadata["annotations"] = {}
        metadata["annotations"][LAST_APPLIED] = json.dumps(applied)

    def provider(self, manifest: Object, where: str) -> None:
        """Plant what a provider tells of a foreign object: credentials in messages, and details in the status."""
        status = manifest.setdefault("status", {})
        if not isinstance(status, dict):
            return
        said = f"cannot apply {self._quotes(where)}"
        conditions = status.setdefault("conditions", [])
        for found in _conditions(status):
            if found.get("message"):
                found["message"] = f"{found['message']} {said}"
            elif self.refused and found.get("status") == "False":
                found["message"] = said
        if self.refused and isinstance(conditions, list):
            conditions[:] = [one for one in conditions if dig(one, "type") != "Synced"]
            conditions.append({"type": "Synced", "status": "False", "reason": "ReconcileError", "message": said})
        at_provider = status.setdefault("atProvider", {})
        if isinstance(at_provider, dict):
            at_provider["kubeConfigRaw"] = self.canary(f"status of {where}").kubeconfig
            at_provider["adminPassword"] = self.canary(f"status of {where}").token

    def _quotes(self, where: str) -> str:
        """A message with credentials of its own, and with every Secret that is known, as servers quote them."""
        own = self.canary(f"message of {where}").token
        said = [f"Bearer {own}", f"token={own}", f"https://u:{own}@example.org/x?sig={own}", f'"password": "{own}"']
        return ", ".join([*(quoted for quoted in self.quoted), *said])

    @property
    def quoted(self) -> Iterator[str]:
        for place, canary in self.canaries.items():
            if place.startswith("Secret "):
                yield f'invalid value "{canary.token}" or {canary.base64()}'

    def template(self, value: Any, where: str) -> None:
        """Plant variables and arguments of the pod templates in a spec."""
        for key, child in fields(value):
            for item in (one for one in child if isinstance(one, dict)) if isinstance(child, list) else ():
                if key == "env" and isinstance(item.get("value"), str) and _NAMED.search(str(item.get("name"))):
                    item["value"] = self.canary(f"env {item['name']} of {where}").token
                if key == "containers":
                    self._container(item, where)

    def _container(self, container: Object, where: str) -> None:
        env, args = container.setdefault("env", []), container.get("args") or ()
        if isinstance(env, list) and not any(dig(one, "name") == "EXTRA_API_KEY" for one in env):
            env.append({"name": "EXTRA_API_KEY", "value": self.canary(f"env of {where}").token})
        container["args"] = [*args, f"--api-key={self.canary(f'args of {where}').token}"]

    def everything(self, objects: Sequence[Object]) -> None:
        """Plant objects as a dump of a control cluster has them: ours tell what Crossplane said of them, too."""
        for manifest in objects:
            for secret in secrets(manifest):
                self.secret(secret)
        for manifest in objects:
            where = f"{manifest['kind']} {dig(manifest, 'metadata', 'name')}"
            self.metadata(manifest, where)
            if OURS in manifest["apiVersion"]:
                self.template(manifest.get("spec"), where)
                for found in _conditions(manifest.get("status")):
                    found.update(message=f"{found.get('message', '')} cannot compose: {self._quotes(where)}")
            else:
                self.provider(manifest, where)

    def edit(self, manifest: Object) -> None:
        """Change all that is planted in an object, so that a comparison has something to show."""
        for secret in secrets(manifest):
            for data in (secret.get("data"), secret.get("stringData")):
                for key in data if isinstance(data, dict) else ():
                    data[key] = base64.b64encode(self.canary(f"changed {key}").odd.encode()).decode()
        for key, child in fields(manifest.get("spec")):
            if key == "env" and isinstance(child, list):
                for item in child:
                    item["value"] = self.canary("env that changed").token
            if key == "args" and isinstance(child, list):
                child[-1] = f"--api-key={self.canary('args that changed').token}"

    def broken(self, manifest: Object) -> Iterator[Object]:
        """Yield an object with a canary in some fields of its spec, one at a time, where it is of the wrong kind."""
        wrong: Sequence[Any] = ("token {}", "https://u:{}@example.org", {"password": "{}"}, ["--api-key={}"])
        found = [*paths(manifest.get("spec"))]
        for number, path in enumerate(found[:: len(found) // MOST_BROKEN + 1]):
            changed: Object = json.loads(json.dumps(manifest))
            changed["metadata"]["name"] = f"broken-{number}"
            inner: Any = changed["spec"]
            for step in path[:-1]:
                inner = inner[step]
            canary = Canary(f"wrong {manifest['kind']} {path}")
            self.canaries[canary.place] = canary
            inner[path[-1]] = json.loads(json.dumps(wrong[number % len(wrong)]).replace("{}", canary.token))
            yield changed


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every field below a value."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in children:
        yield (*path, step)
        yield from paths(child, (*path, step))


def plant(
    xr: Object,
    observed: Mapping[str, Object],
    objects: Sequence[Object],
    *,
    refused: bool,
    words: bool,
    wrong: str = "",
) -> tuple[Request, list[Object], list[Canary]]:
    """Return a request and what there is to find, planted, and the canaries. The arguments are changed."""
    planter = Planter(refused, words, wrong)
    everything = [xr, *observed.values(), *objects]
    for manifest in everything:
        for secret in secrets(manifest):
            planter.secret(secret)
    for manifest in everything:
        where = f"{manifest['kind']} {dig(manifest, 'metadata', 'name')}"
        planter.metadata(manifest, where)
        if OURS not in manifest["apiVersion"] and manifest is not xr:
            planter.provider(manifest, where)
    planter.template(xr.get("spec"), "the XR")
    return Request(xr=xr, observed=observed), [*objects], [*planter.canaries.values()]


def _conditions(value: Any) -> Iterator[Object]:
    """Yield every condition in a status, those of the object on a cluster included."""
    for key, child in fields(value):
        if key == "conditions" and isinstance(child, list):
            yield from (one for one in child if isinstance(one, dict))


def secrets(value: Any) -> Iterator[Object]:
    """Yield every Secret in an object, itself included."""
    for _, child in fields({"": value}):
        if isinstance(child, dict) and child.get("kind") == "Secret" and "metadata" in child:
            yield child


def fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the name and value of every field below a value."""
    if isinstance(value, dict):
        for key, child in [*value.items()]:
            yield key, child
            yield from fields(child)
    elif isinstance(value, list):
        for child in value:
            yield from fields(child)


def _shaped(canary: Canary, key: str, was: str) -> str:
    if "config" in key:
        return canary.kubeconfig
    if key.endswith((".key", ".pem", ".crt")):
        return canary.pem
    if "credentials" in key or "json" in key:
        return canary.json
    return canary.odd if len(was) % 2 else canary.token
