"""Crossplane's package format: an image as `docker save` writes it, one layer of which holds a stream of YAML.

The same input gives the same bytes. The format is that of crossplane-runtime v2.4, pkg/xpkg/{build,layers}.go, and
go-containerregistry's tarball.Write, which the crossplane CLI builds with.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import yaml

STREAM = "package.yaml"
_LABEL = "io.crossplane.xpkg"
"""A label of the image with this prefix and a layer's digest says what the layer is; pushing annotates the layer."""
_BASE = "base"
_NEVER = "0001-01-01T00:00:00Z"
_MODE = 0o644


@dataclass(frozen=True, slots=True)
class Layer:
    """A gzipped tar."""

    data: bytes

    @property
    def digest(self) -> str:
        return _sha256(self.data)

    @property
    def diff_id(self) -> str:
        """The digest of the tar inside."""
        return _sha256(gzip.decompress(self.data))


@dataclass(frozen=True, slots=True)
class Image:
    """An image: its configuration, and its layers from the bottom up."""

    config: Mapping[str, Any] = field(default_factory=lambda: {"architecture": "", "os": ""})
    layers: tuple[Layer, ...] = ()


def package(manifests: Iterable[Mapping[str, Any]], runtime: Image | None = None) -> Image:
    """A package of a meta object and what follows it, on top of what runs it, if anything does."""
    base = runtime or Image()
    layer = _layer(STREAM, stream(manifests))
    settings = dict(base.config.get("config") or {})
    labels = {**(settings.get("Labels") or {}), f"{_LABEL}:sha256:{layer.digest}": _BASE}
    rootfs = base.config.get("rootfs") or {}
    config = {
        **base.config,
        "created": base.config.get("created", _NEVER),
        "history": [*(base.config.get("history") or []), {"created": _NEVER}],
        "rootfs": {"type": "layers", "diff_ids": [*(rootfs.get("diff_ids") or []), f"sha256:{layer.diff_id}"]},
        "config": {**settings, "Labels": labels},
    }
    return Image(config, (*base.layers, layer))


def stream(manifests: Iterable[Mapping[str, Any]]) -> bytes:
    """Manifests as the one file of a package."""
    documents = (yaml.safe_dump(dict(manifest), sort_keys=True, width=10**6) for manifest in manifests)
    return ("---\n" + "---\n".join(documents)).encode()


def write(image: Image, path: Path) -> None:
    """An image as a file of its own."""
    config = json.dumps(image.config, separators=(",", ":")).encode()
    name = f"sha256:{_sha256(config)}"
    names = [f"{layer.digest}.tar.gz" for layer in image.layers]
    manifest = json.dumps([{"Config": name, "RepoTags": None, "Layers": names}], separators=(",", ":")).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file, tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for entry, data in [(name, config), *zip(names, (layer.data for layer in image.layers), strict=True)]:
            if entry not in archive.getnames():  # a layer may be in an image twice
                _add(archive, entry, data)
        _add(archive, "manifest.json", manifest)


def read(file: BinaryIO) -> Image:
    """An image that `docker save`, or `write`, has written. Raises ValueError for what is none, or holds several."""
    with tarfile.open(fileobj=file) as archive:
        try:
            [manifest] = json.loads(_entry(archive, "manifest.json"))
            config = json.loads(_entry(archive, manifest["Config"]))
            layers = tuple(Layer(_gzipped(_entry(archive, name))) for name in manifest["Layers"])
        except (KeyError, ValueError) as problem:
            raise ValueError(f"not one image as `docker save` writes it: {problem}") from problem
    return Image(config, layers)


def _layer(name: str, data: bytes) -> Layer:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        _add(archive, name, data)
    return Layer(_gzipped(buffer.getvalue()))


def _gzipped(data: bytes) -> bytes:
    return data if data[:2] == b"\x1f\x8b" else gzip.compress(data, mtime=0)


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), _MODE
    archive.addfile(entry, io.BytesIO(data))


def _entry(archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(name)
    if file is None:
        raise ValueError(f"{name} is no file")
    return file.read()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
