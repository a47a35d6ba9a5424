"""What is put around the user's container, and what is not."""

from __future__ import annotations

from typing import Any

import pytest

from function.core import Request, dig
from function.manifests import workloads
from function.vocabulary import labels
from tests.support import arrivals, replicas


def pod(*args: str, taints: Any = (), objects: tuple[Any, ...] = (), spec: Any = None, **fields: Any) -> dict[str, Any]:
    """The pod template of a replica of one engine."""
    given = replicas.replica(replicas.engine("qwen", replicas.member(*args, **fields)), **(spec or {}))
    result = replicas.compose(given, replicas.cluster(taints={"gpu": taints}), *objects)
    return dict(replicas.manifests(result)["deployment-qwen"]["spec"]["template"])


def engine_of(template: dict[str, Any]) -> dict[str, Any]:
    return dict(template["spec"]["containers"][0])


def test_the_users_container_passes_as_it_is() -> None:
    given = {
        "command": ["vllm", "serve"],
        "resources": {"requests": {"cpu": "4"}, "limits": {"memory": "1.5Gi"}},
        "livenessProbe": {"exec": {"command": ["true"]}, "timeoutSeconds": 7},
        "env": [{"name": "EMPTY", "value": ""}, {"name": "URL", "value": "http://$(MODELPLANE_PORT)"}],
    }
    got = engine_of(pod("--a", "--b=$(X)", "", **given))
    assert got["command"] == given["command"]
    assert got["args"] == ["--a", "--b=$(X)", ""]
    assert got["resources"] == {**given["resources"], "claims": [{"name": "devices"}]}
    assert got["livenessProbe"] == given["livenessProbe"]
    assert got["env"][1:] == given["env"]
    assert got["image"] == replicas.VLLM


def test_what_says_nothing_is_not_written() -> None:
    """Server-side apply would own an empty block."""
    got = engine_of(
        pod(
            command=[],
            resources={"requests": {}},
            claims=(),
            readinessProbe={"httpGet": {"port": 8000, "httpHeaders": []}},
        )
    )
    assert "command" not in got
    assert "args" not in got
    assert "resources" not in got
    assert got["readinessProbe"] == {"httpGet": {"port": 8000}}


def grace(seconds: int | None) -> tuple[int, Any]:
    given = replicas.member("m")
    if seconds is not None:
        given["template"]["spec"]["terminationGracePeriodSeconds"] = seconds
    there = replicas.manifests(replicas.compose(replicas.replica(replicas.engine("qwen", given))))
    spec = there["deployment-qwen"]["spec"]["template"]["spec"]
    return spec["terminationGracePeriodSeconds"], dig(spec, "containers", 0, "lifecycle", "preStop", "sleep", "seconds")


def test_a_pod_that_serves_answers_on_for_as_long_as_its_grace_allows() -> None:
    """The API server refuses a sleep that is not shorter than the grace."""
    assert [grace(s) for s in (None, 600, 11, 10, 0)] == [(120, 10), (600, 10), (11, 10), (10, None), (0, None)]


def test_a_variable_of_ours_that_the_user_sets_is_the_users() -> None:
    env = [{"name": "MODELPLANE_PORT", "value": "1"}]
    assert engine_of(pod(env=env))["env"] == env


TAINTS = [
    ((), []),
    ([{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}], []),
    (
        [{"key": "team", "value": "search", "effect": "NoExecute"}],
        [{"key": "team", "operator": "Equal", "value": "search", "effect": "NoExecute"}],
    ),
    (
        [{"key": "b", "effect": "NoSchedule"}, {"key": "a", "effect": "NoSchedule"}],
        [{"key": k, "operator": "Equal", "effect": "NoSchedule"} for k in ("a", "b")],
    ),
]


@pytest.mark.parametrize(("taints", "want"), TAINTS)
def test_exactly_the_pools_taints_are_tolerated(taints: Any, want: list[Any]) -> None:
    gpu = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    assert pod(taints=taints)["spec"]["tolerations"] == [gpu, *want]


def test_users_labels_stand_under_ours() -> None:
    template = pod(metadata={"labels": {"app": "x"}, "annotations": {"note": "z"}})
    assert template["metadata"]["labels"].items() >= {"app": "x"}.items()
    assert template["metadata"]["labels"][labels.SERVING] == "qwen-1a2b3c4d"
    assert template["metadata"]["annotations"].items() >= {"note": "z"}.items()


AUTOSCALERS = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "karpenter.sh/do-not-disrupt": "true"}


def test_no_autoscaler_evicts_what_serves() -> None:
    """Every pod of a replica: those of an engine, also of a gang, and the picker without which none gets a request."""
    given = (replicas.replica(), replicas.replica(replicas.gang()), replicas.replica(**replicas.split()))
    composed = [made for one in given for made in replicas.manifests(replicas.compose(one)).values()]
    made = [made for made in composed if made["kind"] in ("Deployment", "LeaderWorkerSet")]

    assert [len(workloads.pod_templates(one)) for one in made] == [1, 2, 1, 1, 1]
    for each in (template for one in made for template in workloads.pod_templates(one)):
        assert each["metadata"]["annotations"].items() >= AUTOSCALERS.items()


@pytest.mark.parametrize("name", AUTOSCALERS)
def test_users_may_give_up_their_pods_to_an_autoscaler(name: str) -> None:
    annotations = pod(metadata={"annotations": {name: "later"}})["metadata"]["annotations"]
    assert annotations == {**AUTOSCALERS, name: "later"}


CACHED = [
    ((), {}, ["--model=/mnt/models", "--served-model-name=Qwen/Qwen3-8B"]),
    (("--served-model-name=q",), {}, ["--served-model-name=q", "--model=/mnt/models"]),
    (("--model=/mnt/models",), {}, ["--model=/mnt/models"]),
    (("/mnt/models",), {}, ["/mnt/models"]),
    (("--tp=2",), {"command": ["vllm", "serve", "/mnt/models"]}, ["--tp=2"]),
]


@pytest.mark.parametrize(("args", "fields", "want"), CACHED)
def test_an_engine_on_a_cache_is_told_where_its_model_is(args: Any, fields: Any, want: list[str]) -> None:
    """Where it does not say itself; in doubt nothing is injected."""
    spec = {"modelCacheRef": {"name": "weights"}}
    got = engine_of(pod(*args, spec=spec, objects=(replicas.cache(staged="abc"),), **fields))
    assert got["args"] == want
    assert {"name": "HF_HUB_OFFLINE", "value": "1"} in got["env"]
    assert got["volumeMounts"][1] == {"name": "models", "mountPath": "/mnt/models", "subPath": "abc", "readOnly": True}


def test_a_user_may_go_online_on_a_cache() -> None:
    spec, env = {"modelCacheRef": {"name": "weights"}}, [{"name": "HF_HUB_OFFLINE", "value": "0"}]
    got = engine_of(pod(spec=spec, env=env, objects=(replicas.cache(staged="abc"),)))
    assert [v for v in got["env"] if v["name"] == "HF_HUB_OFFLINE"] == env


# PrefillDecode


def phases(**spec: Any) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The prefill and decode pod specs, and all manifests."""
    there = replicas.manifests(replicas.compose(replicas.replica(**replicas.split(**spec))))
    prefill, decode = (there[f"deployment-{phase}"]["spec"]["template"]["spec"] for phase in ("prefill", "decode"))
    return prefill, decode, there


PORTS: list[tuple[Any, Any, int, int]] = [
    ((), (), 8000, 8001),
    ((), ("m", "--port=9000"), 8000, 9000),
    (("m", "--port=8001"), (), 8001, 8000),
    (("m", "--port=30000"), ("m", "--port=$(MODELPLANE_PORT)"), 30000, 8001),
    (("m", "--port=nonsense"), ("m", "--port=x"), 8000, 8001),
]


@pytest.mark.parametrize(("prefill", "decode", "front", "behind"), PORTS)
def test_the_sidecar_listens_where_prefill_does_and_decode_elsewhere(
    prefill: Any, decode: Any, front: int, behind: int
) -> None:
    """A pool has one port for the pods of both phases."""
    _, pod_spec, there = phases(prefill=replicas.member(*prefill), decode=replicas.member(*decode))
    sidecar, engine = pod_spec["initContainers"][0], pod_spec["containers"][0]
    assert there["pool"]["spec"]["targetPorts"] == [{"number": front}]
    assert sidecar["args"][:2] == [f"--port={front}", f"--vllm-port={behind}"]
    assert engine["ports"][0]["containerPort"] == engine["readinessProbe"]["httpGet"]["port"] == behind
    assert {"name": "MODELPLANE_PORT", "value": str(behind)} in engine["env"]


def test_decode_is_told_its_port_only_where_nothing_says_it() -> None:
    def args(member: Any) -> Any:
        return phases(decode=member)[1]["containers"][0].get("args")

    assert args(replicas.member("m")) == ["m", "--port=8001"]
    assert args(replicas.member("m", "--port=9000")) == ["m", "--port=9000"]
    assert args(replicas.member("m", command=["vllm", "serve"])) == ["m"]


def test_only_decode_has_a_sidecar() -> None:
    prefill, decode, _ = phases()
    assert "initContainers" not in prefill
    assert [c["restartPolicy"] for c in decode["initContainers"]] == ["Always"]


def test_nixl_listens_where_other_pods_reach_it_unless_the_user_says_where() -> None:
    users = {"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "value": "10.0.0.1"}
    prefill, decode, _ = phases(decode=replicas.member("m", env=[users]))
    pod_ip = {"name": users["name"], "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    port = {"name": "VLLM_NIXL_SIDE_CHANNEL_PORT", "value": "5557"}
    assert [v for v in prefill["containers"][0]["env"] if "NIXL" in v["name"]] == [pod_ip, port]
    assert [v for v in decode["containers"][0]["env"] if "NIXL" in v["name"]] == [port, users]


BLOCKS: list[tuple[Any, int, str]] = [
    (replicas.member("m", "--block-size=32"), 32, ""),
    (replicas.member("m"), 16, "assumed: KV blocks of 16 tokens (vLLM's default)"),
    (replicas.member("m", image="lmsysorg/sglang:v0.5.23"), 1, "assumed: KV blocks of 1 tokens (SGLang's default)"),
    (replicas.member("m", command=["trtllm-serve"]), 32, "32 tokens (TensorRT-LLM's default)"),
    (replicas.member("m", image="serve:1"), 16, "16 tokens (the engine's default is not known)"),
    (replicas.member("m"), 16, "and that KV caches are handed over by nixlv2 (no option tells, such as --kv-transfer"),
]


@pytest.mark.parametrize(("decode", "want", "said"), BLOCKS)
def test_the_picker_counts_in_the_engines_blocks_and_says_what_it_assumed(decode: Any, want: int, said: str) -> None:
    xr = replicas.replica(**replicas.split(prefill=decode, decode=decode))
    first = replicas.compose(xr)
    config = replicas.manifests(first)["picker-config"]["data"]["picker.yaml"]
    assert f"blockSizeTokens: {want}\n" in config
    settled = replicas.compose(arrivals.again(Request(xr=xr), first, arrivals.running))
    assert settled.ready
    assert said in replicas.said(settled, "ModelAccepted")


def test_the_pickers_configuration_rolls_it() -> None:
    def hashed(*args: str) -> Any:
        there = phases(decode=replicas.member("m", *args))[2]
        return dig(there["picker"], "spec", "template", "metadata", "annotations", labels.CONFIG_HASH)

    assert hashed("--block-size=16") != hashed("--block-size=32")
