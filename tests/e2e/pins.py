"""Which programs run in the end-to-end tests, and which release of each."""

from dataclasses import dataclass, field

from function.vocabulary.versions import CROSSPLANES

KUBERNETES = "v1.36.3"
NEWEST = CROSSPLANES[0]
NO_CROSSPLANE = "none"  # what a run is called that starts no control cluster
LIBRARIES = KUBERNETES.replace("v1.", "v0.", 1)  # k8s.io/api and its like are numbered so

CROSSPLANE_VARIABLE = "github.com/crossplane/crossplane-runtime/v2/pkg/version.version"
KUBERNETES_VARIABLE = "k8s.io/component-base/version.gitVersion"


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A release of a Go module, and what we take from it: a program, folders of files, or both."""

    name: str  # of the program
    path: str
    version: str
    package: str | None = None  # the program's, relative to the module; None when only files are taken
    variable: str = ""  # where the linker is to put the version: programs that do not know theirs misbehave
    pinned: tuple[str, ...] = ()  # other modules that it has to be built with, which its own `replace` would choose
    staged: bool = False  # its `replace` points at folders of its own tree, which are released one by one as well
    files: dict[str, str] = field(default_factory=dict)  # name of a folder in the build: folder in the module
    ours: str = field(default="", repr=False)  # a folder here with a program of our own, which uses the module
    replaced: tuple[str, ...] = field(default=(), repr=False)  # as `go mod edit -replace` takes them
    declared: str = field(default="", repr=False)  # what its go.mod calls it, where that is not its path

    @property
    def imported(self) -> str:
        """The path by which Go code imports it."""
        return self.declared or self.path

    @property
    def title(self) -> str:
        return f"{self.name} {self.version}"


def kubernetes(name: str) -> Module:
    return Module(
        name=name,
        path="k8s.io/kubernetes",
        version=KUBERNETES,
        package=f"/cmd/{name}",
        variable=KUBERNETES_VARIABLE,
        staged=True,
    )


def crossplane(version: str) -> Module:
    return Module(
        name="crossplane-core",
        path="github.com/crossplane/crossplane/v2",
        version=version,
        package="/cmd/crossplane",
        variable=CROSSPLANE_VARIABLE,
        pinned=(f"github.com/crossplane/crossplane/apis/v2@{version}",),
        files={"crds": "cluster/crds", "proto": "proto"},
    )


def router(name: str, package: str, **files: str) -> Module:
    """A program of llm-d's router. Of v0.9.0, v0.9.1 and v0.9.2, the proxy has the last alone, under the former name of
    the repository (November 2026). The images that we compose are of v0.9.0.
    """
    return Module(
        name=name,
        path="github.com/llm-d/llm-d-inference-scheduler",
        declared="github.com/llm-d/llm-d-router",
        version="v0.9.2",
        package=package,
        files=files,
    )


ETCD = Module(name="etcd", path="go.etcd.io/etcd/server/v3", version="v3.6.16", package="")
API_SERVER = kubernetes("kube-apiserver")
CONTROLLER_MANAGER = kubernetes("kube-controller-manager")
SCHEDULER = kubernetes("kube-scheduler")
CROSSPLANE = {version: crossplane(version) for version in CROSSPLANES}
CROSSPLANE_CHART = Module(  # apart from the programs, of which two releases are built
    name="crossplane-chart",
    path="github.com/crossplane/crossplane/v2",
    version=NEWEST,
    files={"chart": "cluster/charts/crossplane"},
)
PROVIDER_KUBERNETES = Module(
    name="provider-kubernetes",
    path="github.com/crossplane-contrib/provider-kubernetes",
    version="v1.2.1",
    package="/cmd/provider",
    files={"crds": "package/crds"},
)
PROVIDER_HELM = Module(  # its kinds only: there is nothing to install charts from
    name="provider-helm",
    path="github.com/crossplane-contrib/provider-helm",
    version="v1.2.0",
    files={"crds": "package/crds"},
)
CLI = Module(
    name="crossplane",
    path="github.com/crossplane/cli/v2",
    version="v2.5.0",
    package="/cmd/crossplane",
    variable=CROSSPLANE_VARIABLE,
)
LEADER_WORKER_SET = Module(
    name="lws-controller",
    path="sigs.k8s.io/lws",
    version="v0.9.0",  # the newest that can be had as a module; our serving stack installs v0.10.0
    package="/cmd",
    files={"crds": "config/crd/bases", "chart": "charts/lws"},
)
KWOK = Module(
    name="kwok",
    path="sigs.k8s.io/kwok",
    version="v0.8.0",
    package="/cmd/kwok",
    pinned=tuple(f"k8s.io/{name}@{LIBRARIES}" for name in ("api", "apimachinery", "client-go")),
    files={"stages": "kustomize/stage"},
)
GATEWAY_API = Module(
    name="gateway-api",
    path="sigs.k8s.io/gateway-api",
    version="v1.6.1",
    files={"crds": "config/crd/standard"},
)
INFERENCE_EXTENSION = Module(
    name="gateway-api-inference-extension",
    path="sigs.k8s.io/gateway-api-inference-extension",
    version="v1.5.0",
    files={"crds": "config/crd/bases"},
)
PICKER = router("endpoint-picker", "/cmd/epp", crds="config/crd/bases")
ROUTING_SIDECAR = router("routing-sidecar", "/cmd/pd-sidecar")

ENVOY_GATEWAY = Module(  # its kinds and its chart only
    name="envoy-gateway",
    path="github.com/envoyproxy/gateway",
    version="v1.8.3",  # what our serving stack installs
    files={"crds": "charts/gateway-helm/charts/crds/crds/generated", "chart": "charts/gateway-helm"},
)
METALLB = Module(  # its kinds and its chart only
    name="metallb",
    path="go.universe.tf/metallb",
    version="v0.16.1",  # that of the chart
    files={"crds": "config/crd/bases", "chart": "charts/metallb"},
)
HELM = Module(
    name="helm",
    path="helm.sh/helm/v3",
    version="v3.21.3",  # with which Envoy Gateway itself is built
    package="",
    pinned=(
        f"{ENVOY_GATEWAY.path}@{ENVOY_GATEWAY.version}",  # for the types of its configuration
        *(f"k8s.io/{name}@{LIBRARIES}" for name in ("api", "apimachinery", "client-go")),
    ),
    ours="helm",
)
GATEWAY = Module(
    name="gateway",
    path="github.com/traefik/traefik/v3",
    version="v3.7.13",
    package="",
    pinned=tuple(f"k8s.io/{name}@{LIBRARIES}" for name in ("api", "apimachinery", "client-go")),
    ours="gateway",
    replaced=(
        "github.com/traefik/traefik/dynamic/ext=./ext",
        "github.com/gorilla/mux=github.com/containous/mux@v0.0.0-20250523120546-41b6ec3aed59",  # as Traefik's go.mod
    ),
)

RATELIMIT = Module(
    name="ratelimit",
    path="github.com/envoyproxy/ratelimit",
    version="v1.4.1-0.20260122083618-3fb702589d36",  # without releases, the newest that the module proxy has
    package="/src/service_cmd",
)
REDIS = Module(  # a stand-in, in which the rate-limit server's own tests count as well
    name="redis",
    path="github.com/alicebob/miniredis/v2",
    version="v2.33.0",
    package="",
    ours="redis",
)

# In the order of need, so that a first failure is an early one.
MODULES = (
    ETCD,
    API_SERVER,
    CONTROLLER_MANAGER,
    CROSSPLANE["v2.4.0"],
    PROVIDER_KUBERNETES,
    CROSSPLANE["v2.3.4"],
    CLI,
    SCHEDULER,
    LEADER_WORKER_SET,
    KWOK,
    GATEWAY,
    PICKER,
    ROUTING_SIDECAR,
    GATEWAY_API,
    CROSSPLANE_CHART,
    PROVIDER_HELM,
    INFERENCE_EXTENSION,
    ENVOY_GATEWAY,
    METALLB,
    HELM,
    REDIS,
    RATELIMIT,
)
