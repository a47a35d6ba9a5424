"""Warnings about ModelEndpoints: keys that are not safe, and paths that no server has."""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterator

from function.core import Manifest, dig_text
from function.schema import Path
from function.validation.finding import Finding

_CLUSTER_NAMES = (".svc", ".cluster.local", ".localhost")
_OPERATIONS = ("/chat/completions", "/completions", "/embeddings", "/responses", "/messages", "/models")
"""What clients append to a base URL (OpenAI API reference; /messages of Anthropic's)."""
_API = "/v1"
_AZURE, _AZURE_DEPLOYMENTS = ".openai.azure.com", "/openai/deployments/"
"""Below this path, Azure OpenAI needs api-version, and a key in the header api-key: Authorization takes tokens of
Microsoft Entra ID only (learn.microsoft.com, "Azure OpenAI REST API reference", Authentication and URI parameters)."""


def findings(index: int, manifest: Manifest) -> Iterator[Finding]:
    """Return the warnings about one valid endpoint."""
    spec = manifest["spec"]
    for path, problem, code in (*_url(spec), *_paths(spec), *_azure(spec)):
        yield Finding(index, path, problem, code)


def _url(spec: Manifest) -> Iterator[tuple[Path, str, str]]:
    parts = urllib.parse.urlsplit(spec["url"])
    if spec.get("auth") and parts.scheme == "http":
        yield ("spec", "url"), "is http, so the key of spec.auth would be sent unencrypted", "clear-text"
    if (parts.hostname or "").endswith(_CLUSTER_NAMES):
        yield ("spec", "url"), "points into the control cluster or its own network", "in-cluster"


def _paths(spec: Manifest) -> Iterator[tuple[Path, str, str]]:
    """Paths that already have what is put behind them."""
    if "rewritePath" in spec:
        if spec["rewritePath"].rstrip("/").endswith(_API):
            problem = f"ends in {_API}, which is put behind it: requests would ask for {_API}{_API}; leave it out"
            yield ("spec", "rewritePath"), problem, "base-path"
        return
    field = "basePath" if "basePath" in spec else "url"
    path = spec["basePath"] if field == "basePath" else urllib.parse.urlsplit(spec["url"]).path
    doubled = next((one for one in _OPERATIONS if path.rstrip("/").endswith(one)), None)
    if doubled:
        problem = f"ends in {doubled}, which clients append: requests would ask for it twice; leave it out"
        yield ("spec", field), problem, "base-path"


def _azure(spec: Manifest) -> Iterator[tuple[Path, str, str]]:
    url = urllib.parse.urlsplit(spec["url"])
    path = spec.get("basePath") or spec.get("rewritePath") or url.path
    if not (url.hostname or "").endswith(_AZURE) or _AZURE_DEPLOYMENTS not in path:
        return
    if "api-version" not in (spec.get("query") or {}):
        problem = "is a deployment of Azure OpenAI, which answers 404 without spec.query api-version"
        yield ("spec", "url"), f"{problem}, such as {{api-version: 2024-10-21}}", "provider"
    if spec.get("auth") and (dig_text(spec, "auth", "header") or "authorization").lower() == "authorization":
        problem = "sends the key in the header Authorization, in which Azure OpenAI takes tokens only, and answers 401"
        yield ("spec", "auth"), f"{problem}; set header: api-key", "provider"
