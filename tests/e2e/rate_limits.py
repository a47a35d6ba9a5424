"""The rate-limit server that many run with Envoy, from its own sources. It counts in a stand-in for Redis."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from function.manifests.envoy import limits
from tests.e2e import pins
from tests.e2e.processes import Process, healthy, listens, ports
from tests.e2e.programs import Site


@dataclass(slots=True)
class Server:
    site: Site
    folder: Path
    grpc: int
    health: int
    debug: int
    redis: int
    running: tuple[Process, ...] = ()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.grpc}"

    def start(self) -> None:
        """Start with nothing counted. Of the configuration, it needs the domain alone."""
        place = self.folder / "config"
        place.mkdir(parents=True, exist_ok=True)
        (place / "modelplane.yaml").write_text(f"domain: {limits.DOMAIN}\n")
        redis = self.site.processes.start(
            "redis", self.site.program(pins.REDIS), f"127.0.0.1:{self.redis}", serves=listens(self.redis)
        )
        own = self.site.processes.start(
            "ratelimit",
            self.site.program(pins.RATELIMIT),
            serves=healthy(self.health, "/healthcheck"),
            **self.environment,
        )
        self.running = (redis, own)

    @property
    def environment(self) -> dict[str, str]:
        return {
            **dict.fromkeys(("HOST", "GRPC_HOST", "DEBUG_HOST"), "127.0.0.1"),
            "PORT": str(self.health),
            "GRPC_PORT": str(self.grpc),
            "DEBUG_PORT": str(self.debug),
            "REDIS_SOCKET_TYPE": "tcp",
            "REDIS_URL": f"127.0.0.1:{self.redis}",
            "USE_STATSD": "false",
            "RUNTIME_ROOT": str(self.folder),
            "RUNTIME_SUBDIRECTORY": "",
            "RUNTIME_APPDIRECTORY": "config",
            "RUNTIME_WATCH_ROOT": "false",
        }

    def stop(self) -> None:
        if self.running:
            self.site.processes.stop(*self.running)
            self.running = ()


@contextmanager
def serving(site: Site) -> Iterator[Server]:
    server = Server(site, site.folder / "ratelimit", *ports(4))
    server.start()
    try:
        yield server
    finally:
        server.stop()
