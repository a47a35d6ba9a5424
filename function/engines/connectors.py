"""How a prefill and a decode engine hand KV caches over, and what llm-d's sidecar must be told of it.

In serving mode PrefillDecode a sidecar beside the decode engine has another pod prefill the prompt. How the KV cache
then gets to the decode engine is between the engines: each has a *connector*, set by the user's flags. The sidecar must
speak the *protocol* of that connector, because the connectors expect different fields in the two requests. A sidecar
with the wrong protocol fails silently: the decode engine computes everything itself.

- vLLM: `--kv-transfer-config`, a JSON object with `kv_connector`. A MultiConnector nests several; the one that moves
  caches between engines decides, before one that stores them.
- SGLang: it has one protocol for all its transfer backends.
- Other engines, and vLLM without the flag: nothing tells, and `ASSUMED` is used.

*Bootstrap ports* are where a decode engine asks a prefill engine for its peers. The prefill engine's flags decide, and
the sidecar must be told. *Side channels* are addresses of handshakes that default to loopback; Modelplane sets them to
the pod's own address.

Sources: llm-d router v0.9 and v0.10, docs/disaggregation.md and pkg/sidecar/proxy; vllm 0.33.0,
vllm/distributed/kv_transfer/kv_connector/factory.py and vllm/envs.py; sglang 0.5.23, fields/disagg.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from function.core import json_text
from function.engines import listening, options
from function.engines.reading import Reading
from function.engines.table import SGLANG
from function.vocabulary import versions

NIXL, MOONCAKE, SHARED_STORAGE, SGLANGS, OFFLOADING = "nixlv2", "mooncake", "shared-storage", "sglang", "offloading"
"""Values of the sidecar's `--kv-connector`."""
ASSUMED = NIXL
BOOTSTRAP = 8998
"""The default bootstrap port of Mooncake in vLLM, of SGLang, and of the sidecar for both."""
_MULTI = "MultiConnector"
_PROTOCOLS = {
    "NixlConnector": NIXL,
    "NixlPullConnector": NIXL,
    "NixlPushConnector": NIXL,
    "MooncakeConnector": MOONCAKE,
    "OffloadingConnector": OFFLOADING,
    "LMCacheConnectorV1": SHARED_STORAGE,
    "LMCacheMPConnector": SHARED_STORAGE,
    "MooncakeStoreConnector": SHARED_STORAGE,
    "SharedStorageConnector": SHARED_STORAGE,
    "ExampleConnector": SHARED_STORAGE,
    "HF3FSKVConnector": SHARED_STORAGE,
    "FlexKVConnectorV1": SHARED_STORAGE,
}
"""Protocols of vLLM's connectors. With `shared-storage` the sidecar only waits for the prefill: the decode engine finds
the cache in a store that both engines use."""
KNOWN = tuple(_PROTOCOLS)
"""The connectors of vLLM whose protocol is known."""
_PREFERRED = (NIXL, MOONCAKE, OFFLOADING, SHARED_STORAGE)
"""Which of several nested connectors decides."""
_SINCE = {OFFLOADING: (0, 10)}
"""The first version of the sidecar with a protocol, where that is not v0.9."""


@dataclass(frozen=True, slots=True)
class Connector:
    """The connector of an engine, and the sidecar's protocol for it."""

    protocol: str
    told: str
    """What told the protocol, for a message: a flag, a connector, or an engine. Empty if it is assumed."""
    doubt: str = ""
    """Why the protocol is assumed although the engine tells a connector. Empty if it is not."""


def connector(reading: Reading) -> Connector:
    """Return the connector of an engine."""
    if reading.engine is SGLANG:
        return Connector(SGLANGS, SGLANG.name)
    names = tuple(_names(_config(reading)))
    protocols = {_PROTOCOLS[name]: name for name in reversed(names) if name in _PROTOCOLS}
    if supported := [protocol for protocol in _PREFERRED if protocol in protocols and _is_supported(protocol)]:
        return Connector(supported[0], protocols[supported[0]])
    if not names:
        return Connector(ASSUMED, "")
    known = next((name for name in names if name in _PROTOCOLS), None)
    since = f"{known} before {_spelled(_SINCE[_PROTOCOLS[known]])}" if known else "its connector"
    return Connector(ASSUMED, "", f"llm-d's sidecar has no protocol for {since}")


def bootstrap_port(prefill: Reading, protocol: str) -> int | None:
    """Return the bootstrap port of a prefill engine; None if there is none in a protocol."""
    if protocol == SGLANGS:
        text = options.value(prefill.program.arguments, ("--disaggregation-bootstrap-port",)) or ""
    elif protocol == MOONCAKE:
        text = prefill.program.variables.get("VLLM_MOONCAKE_BOOTSTRAP_PORT", "")
    else:
        return None
    return listening.port_number(text) or BOOTSTRAP


def _config(reading: Reading) -> Mapping[str, Any]:
    """Return the JSON object of the engine's connector flag. What cannot be read is empty."""
    flag = reading.engine.connector_flag if reading.engine else ""
    if not flag:
        return {}
    words = reading.program.arguments
    given = json_text.parse(options.value(words, (flag,)))
    return {**(given if isinstance(given, dict) else {}), **options.nested(words, flag)}


def _names(config: Any, depth: int = 3) -> Iterator[str]:
    """Yield the connectors of a configuration, nested ones in place of a MultiConnector."""
    name = config.get("kv_connector") if isinstance(config, Mapping) else None
    if name != _MULTI:
        yield from [name] if isinstance(name, str) else []
        return
    extra = config.get("kv_connector_extra_config")
    inner = extra.get("connectors") if isinstance(extra, Mapping) else None
    for entry in inner if isinstance(inner, list) and depth else []:
        yield from _names(entry, depth - 1)


def _is_supported(protocol: str) -> bool:
    return _SINCE.get(protocol, (0, 0)) <= _sidecar_version()


def _sidecar_version() -> tuple[int, ...]:
    numbers = versions.SIDECAR_IMAGE.rpartition(":v")[2].split(".")
    return tuple(int(number) for number in numbers[:2])


def _spelled(version: tuple[int, ...]) -> str:
    return f"v{'.'.join(map(str, version))}"
