"""Objects as users write them, with good defaults."""

from typing import Any

from function.api.servingstack import Components
from tests.e2e import fleet
from tests.e2e.kube import Object

GROUP = "modelplane.ai/v1alpha1"
SYSTEM = "modelplane-system"
TEAM = "ml-team"
AT_LEAST_20GI = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("20Gi")) >= 0'
HOPPER = 'device.attributes["gpu.nvidia.com"].architecture == "Hopper"'


def deployment(name: str = "qwen", namespace: str = TEAM, **spec: Any) -> Object:
    """Two replicas of one engine, unless told otherwise."""
    return of("ModelDeployment", name, namespace, **({"replicas": 2, "engines": [engine()]} | spec))


def engine(name: str = "vllm", *members: Object, **more: Any) -> Object:
    return {"name": name, "members": list(members or (member(),)), **more}


def member(*selectors: str, count: int = 1, image: str = "vllm/vllm-openai:v0.23.0", **more: Any) -> Object:
    """A member whose pods each need some GPUs of at least 20Gi, or of what the selectors say."""
    request = {
        "name": "gpu",
        "count": count,
        "selectors": [{"cel": selector} for selector in selectors or (AT_LEAST_20GI,)],
    }
    return {"nodeSelector": {"devices": [request]}, "template": template(image), **more}


def template(image: str = "vllm/vllm-openai:v0.23.0", **more: Any) -> Object:
    args = ["--model=Qwen/Qwen3-8B", "--served-model-name=qwen3-8b"]
    return {"spec": {"containers": [{"name": "engine", "image": image, "args": args, **more}]}}


def service(name: str = "chat", namespace: str = TEAM, **labels: str) -> Object:
    selector = {"matchLabels": {key.replace("__", "/"): value for key, value in labels.items()}}
    return of("ModelService", name, namespace, endpoints=[{"selector": selector}])


def endpoint(name: str = "outside", namespace: str = TEAM, **spec: Any) -> Object:
    return of("ModelEndpoint", name, namespace, **({"url": "https://api.example.org/v1"} | spec))


def cache(name: str = "weights", namespace: str = TEAM, **source: Any) -> Object:
    hub = {"repo": "Qwen/Qwen3-8B", "sizeGiB": 20} | source
    return of("ModelCache", name, namespace, source="HuggingFace", huggingFace=hub)


def gateway(name: str = "default", **spec: Any) -> Object:
    return of("InferenceGateway", name, **({"backend": "Traefik"} | spec))


def inference_class(hardware: fleet.Hardware, **more: Any) -> Object:
    device = {
        "name": "gpu",
        "driver": fleet.DRIVER,
        "deviceClassName": fleet.DRIVER,
        "count": hardware.gpus,
        "attributes": hardware.attributes,
        "capacity": hardware.capacity,
    }
    return of("InferenceClass", hardware.name, description=hardware.product, devices=[device | more])


def cluster(of_: fleet.Cluster, secret: str = "", **more: Any) -> Object:
    """A cluster that is there already, reached through a kubeconfig in a Secret of its name. It has all components.

    The observer is no chart: the serving stack installs it, where capacity is to be observed.
    """
    pools = [{"name": pool.name, "className": pool.hardware.name, "nodeCount": pool.nodes} for pool in of_.pools]
    source = {"source": "Existing", "existing": {"secretRef": {"name": secret or of_.name}}}
    charts = [name for name in Components.model_fields if name != "observer"]
    stack = {"components": {name: {"enabled": False} for name in charts}}
    manifest = of(
        "InferenceCluster", of_.name, **({"cluster": source, "nodePools": pools, "servingStack": stack} | more)
    )
    manifest["metadata"]["labels"] = of_.labels
    return manifest


def secret(name: str, namespace: str = SYSTEM, **data: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace},
        "stringData": data,
    }


def namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def of(kind: str, name: str, namespace: str | None = None, **spec: Any) -> Object:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": GROUP, "kind": kind, "metadata": metadata, "spec": spec}


def changed(manifest: Object, path: str, value: Any) -> Object:
    """A copy with one place changed: `spec.engines.0.name`. None takes it away."""
    head, _, rest = path.partition(".")
    key = int(head) if isinstance(manifest, list) else head
    copied = list(manifest) if isinstance(manifest, list) else dict(manifest)
    if rest:
        copied[key] = changed(manifest[key] if isinstance(manifest, list) else manifest.get(key, {}), rest, value)
    elif value is None:
        del copied[key]
    else:
        copied[key] = value
    return copied
