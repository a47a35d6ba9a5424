"""Programs built from Go modules, kept in a cache outside the tree and never built twice.

A build is named by all that decides its content, made in a folder of its own, and moved to its place in one step:
what is in the cache is whole, and two runs at once do no harm.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.pins import Module

FLAGS = ("-mod=mod", "-buildvcs=false", "-trimpath")
LINKER = "-s -w"
HERE = Path(__file__).parent
REQUIREMENTS = HERE / "requirements.txt"


class Unbuildable(Exception):
    """A program could not be built; the message says which, and what the tool said."""


@dataclass(frozen=True, slots=True)
class Build:
    """Where a module's program and files are."""

    module: Module
    folder: Path

    @property
    def program(self) -> Path:
        return self.folder / "bin" / self.module.name

    def files(self, name: str) -> Path:
        return self.folder / name


def cache() -> Path:
    """Where builds are kept: $MODELPLANE_E2E_CACHE, or a folder in the user's cache."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("MODELPLANE_E2E_CACHE") or home / "modelplane" / "e2e")


def build(module: Module, root: Path, toolchain: str) -> Build:
    """Build a module, unless the cache has it."""
    label = f"{module.name}-{module.version}-{key(repr(module), *FLAGS, LINKER, toolchain, *own(module))}"
    place = root / label
    with locked(root, label):
        if not place.exists():
            with fresh(root, module.title) as folder:
                make(module, folder)
                folder.rename(place)
    return Build(module, place)


def install(root: Path) -> Path:
    """The folder of the programs that PyPI has ready-made: installed into an environment of their own."""
    interpreter = f"{sys.implementation.cache_tag} {sys.executable}"
    label = f"python-{key(REQUIREMENTS.read_text(), interpreter)}"
    place = root / label
    with locked(root, label):
        if not (place / "whole").exists():  # an environment cannot be moved: a mark says that it is complete
            shutil.rmtree(place, ignore_errors=True)
            with told("programs from PyPI"):
                run(sys.executable, "-m", "venv", str(place))
                pip = (str(place / "bin/python"), "-m", "pip", "--quiet", "--disable-pip-version-check")
                run(*pip, "install", "--require-hashes", "-r", str(REQUIREMENTS))
            (place / "whole").touch()
    return place / "bin"


def toolchain() -> str | None:
    """Which Go this is, and what it builds for; None without Go."""
    if shutil.which("go") is None:
        return None
    return " ".join(run("go", "env", "GOVERSION", "GOOS", "GOARCH").split())


def key(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


@contextlib.contextmanager
def locked(root: Path, label: str) -> Iterator[None]:
    """Hold a build's lock: another run that wants the same waits, and then finds it made."""
    locks = root / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    with (locks / label).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def fresh(root: Path, title: str) -> Iterator[Path]:
    """An empty folder on the cache's file system, gone afterwards unless it was moved to its place."""
    folder = Path(tempfile.mkdtemp(prefix="building-", dir=root))
    try:
        with told(title):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def told(title: str) -> Iterator[None]:
    """Say what is being built, and how long it took."""
    print(f"build  {title} …", flush=True)
    began = time.monotonic()
    yield
    print(f"built  {title} in {time.monotonic() - began:.0f} s", flush=True)


def own(module: Module) -> Iterator[str]:
    """What of our own decides a build's content, and under which name its sources are had."""
    if module.declared:
        yield module.declared
    if module.ours:
        yield from module.replaced
        yield from (path.read_text() for path in sorted((HERE / module.ours).rglob("*")) if path.is_file())


def make(module: Module, folder: Path) -> None:
    """Fill a folder with what we take from a module, from a scratch module that requires it.

    Each program has a scratch module of its own, so that none constrains another's dependencies.
    """
    scratch = folder / "src"
    scratch.mkdir()
    if module.ours:
        copy(HERE / module.ours, scratch)
    require(module, scratch)
    if module.package is not None:
        linker = LINKER + (f" -X {module.variable}={module.version}" if module.variable else "")
        program = folder / "bin" / module.name
        go(
            scratch,
            "build",
            "-ldflags",
            linker,
            "-o",
            str(program),
            "." if module.ours else module.imported + module.package,
        )
    for name, source in module.files.items():
        copy(Path(downloaded(scratch, module)["Dir"], source), folder / name)
    shutil.rmtree(scratch)


def require(module: Module, scratch: Path) -> None:
    """Write a go.mod that asks for a module, and for those that its own `replace` would have chosen.

    Go heeds `replace` in the main module only: what a module replaces for itself does not reach who requires it.
    """
    go(scratch, "mod", "init", "modelplane.test/e2e")
    required = (f"{module.imported}@{module.version}", *module.pinned)
    renamed = (f"{module.declared}={module.path}@{module.version}",) if module.declared else ()
    replaced = (f"-replace={one}" for one in (*module.replaced, *renamed))
    go(scratch, "mod", "edit", *(f"-require={one}" for one in required), *replaced)
    if module.staged:
        theirs = json.loads(go(scratch, "mod", "edit", "-json", downloaded(scratch, module)["GoMod"]))["Replace"]
        version = module.version.replace("v1.", "v0.", 1)
        staged = (one["Old"]["Path"] for one in theirs)
        go(scratch, "mod", "edit", *(f"-replace={path}={path}@{version}" for path in staged))


def downloaded(scratch: Path, module: Module) -> dict[str, str]:
    """Where Go keeps a module's sources (`Dir`) and its own go.mod (`GoMod`)."""
    return dict(json.loads(go(scratch, "mod", "download", "-json", f"{module.path}@{module.version}")))


def copy(source: Path, target: Path) -> None:
    """Copy a folder's files without their permissions: Go's module cache is read-only, and ours is to be removable."""
    files = sorted(path for path in source.rglob("*") if path.is_file())
    if not files:
        raise Unbuildable(f"there is nothing in {source}")
    for path in files:
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)


def go(folder: Path, *arguments: str) -> str:
    """Run the go command in a module, and give what it prints. The user's own flags are kept."""
    flags = " ".join([os.environ.get("GOFLAGS", ""), *FLAGS])
    return run("go", *arguments, cwd=folder, env={"GOFLAGS": flags, "CGO_ENABLED": "0", "GOWORK": "off"})


def run(*command: str, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    """Run a command to its end, and give what it prints; what it says on failure is the error's message."""
    done = subprocess.run(command, cwd=cwd, env=os.environ | (env or {}), text=True, capture_output=True, check=False)
    if done.returncode:
        raise Unbuildable(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout
