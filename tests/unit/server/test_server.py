"""The function over real gRPC, called as Crossplane calls it."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from grpc_health.v1 import health_pb2, health_pb2_grpc

from function.core import Manifest
from tests.support import certificates as certificates_of
from tests.support.serving import Crossplane, Server, created, desired, running, said

MODELPLANE = "modelplane.ai/v1alpha1"
GPU = {
    "name": "gpu",
    "claim": "DRA",
    "driver": "gpu.nvidia.com",
    "deviceClassName": "gpu.nvidia.com",
    "count": 1,
    "attributes": {"architecture": {"string": "Ada Lovelace"}},
    "capacity": {"memory": {"value": "23034Mi"}},
}
READY = [{"type": t, "status": "True", "reason": "X"} for t in ("Ready", "ModelReady")]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running() as started:
        yield started


@pytest.fixture
def crossplane(server: Server) -> Iterator[Crossplane]:
    with grpc.insecure_channel(server.address) as channel:
        yield Crossplane(channel)


def cluster(name: str) -> Manifest:
    return {
        "apiVersion": MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": name},
        "status": {
            "conditions": READY[:1],
            "gateway": {"address": "10.0.0.1"},
            "providerConfigRef": {"name": name},
            "gpuPools": [{"name": "l4", "nodes": 1, "devices": [GPU]}],
        },
    }


FLEET = [cluster("east"), cluster("west"), cluster("south")]


def deployment(replicas: int, cel: str = 'device.driver == "gpu.nvidia.com"') -> Manifest:
    member = {
        "nodeSelector": {"devices": [{"name": "gpu", "selectors": [{"cel": cel}]}]},
        "template": {"spec": {"containers": [{"name": "engine", "image": "vllm/vllm-openai:v0.23.0"}]}},
    }
    return {
        "apiVersion": MODELPLANE,
        "kind": "ModelDeployment",
        "metadata": {"name": "qwen", "namespace": "ml", "uid": "1"},
        "spec": {"replicas": replicas, "engines": [{"name": "qwen", "members": [member]}]},
    }


@pytest.mark.slow
def test_a_deployment_from_two_replicas_to_one_and_through_a_typo(crossplane: Crossplane) -> None:
    """2 on a fleet of 3 take 2 clusters; ready they get endpoints; 1 keeps the healthy one; a typo loses nothing."""
    first = desired(crossplane.reconcile(deployment(2), FLEET), "ModelReplica")
    assert len({m["spec"]["clusterName"] for m in first.values()}) == 2

    serving = created(first, conditions=READY)
    rsp = crossplane.reconcile(deployment(2), [*FLEET, *serving.values()], serving)
    assert len(desired(rsp, "ModelEndpoint")) == 2
    assert said(rsp)["ReplicasReady"] == (True, "AllReplicasReady")

    one_down = dict(serving)
    one_down[min(one_down)] = {**one_down[min(one_down)], "status": {}}
    rsp = crossplane.reconcile(deployment(1), [*FLEET, *one_down.values()], one_down)
    assert desired(rsp, "ModelReplica").keys() == {max(one_down)}

    rsp = crossplane.reconcile(deployment(1, cel="device.driver == "), [*FLEET, *serving.values()], serving)
    assert desired(rsp, "ModelReplica").keys() == serving.keys()
    assert said(rsp)["ReplicasScheduled"] == (False, "InvalidNodeSelector")
    assert not [r for r in rsp.results if r.severity == fnv1.SEVERITY_FATAL]


def test_a_replica_becomes_objects_on_its_cluster(crossplane: Crossplane) -> None:
    replica = next(iter(created(desired(crossplane.reconcile(deployment(1), FLEET), "ModelReplica")).values()))
    objects = desired(crossplane.reconcile(replica, FLEET), "Object")
    kinds = {m["spec"]["forProvider"]["manifest"]["kind"] for m in objects.values()}
    assert kinds == {"Namespace", "Deployment", "ResourceClaimTemplate", "Service", "HTTPRoute"}


def test_it_asks_before_it_knows_and_is_never_fatal_while_waiting(crossplane: Crossplane) -> None:
    req = fnv1.RunFunctionRequest()
    req.observed.composite.resource.update(deployment(1))
    rsp = crossplane.stub.RunFunction(req)
    assert rsp.requirements.resources.keys() == {"clusters", "own-replicas"}
    assert not rsp.results
    assert rsp.desired.composite.ready == fnv1.READY_FALSE
    assert rsp.meta.ttl.seconds > 0


def test_an_unknown_kind_is_fatal_and_told_which_there_are(crossplane: Crossplane) -> None:
    req = fnv1.RunFunctionRequest()
    req.observed.composite.resource.update({"apiVersion": "example.org/v1", "kind": "Other"})
    [result] = crossplane.stub.RunFunction(req).results
    assert result.severity == fnv1.SEVERITY_FATAL
    assert "kind Other of example.org/v1" in result.message
    assert f"ModelDeployment ({MODELPLANE})" in result.message


def test_the_older_service_answers_as_well(server: Server) -> None:
    """Crossplane falls back to v1beta1."""
    with grpc.insecure_channel(server.address) as channel:
        call = channel.unary_unary("/apiextensions.fn.proto.v1beta1.FunctionRunnerService/RunFunction")
        rsp = fnv1.RunFunctionResponse.FromString(call(fnv1.RunFunctionRequest(meta={"tag": "t"}).SerializeToString()))
    assert rsp.meta.tag == "t"


def test_broken_bytes_are_refused_and_the_server_goes_on(server: Server, crossplane: Crossplane) -> None:
    with grpc.insecure_channel(server.address) as channel:
        call = channel.unary_unary("/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction")
        with pytest.raises(grpc.RpcError) as error:
            call(b"\xff\xff\xff")
    assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert crossplane.reconcile(deployment(1), FLEET).desired.resources


def test_a_client_that_hangs_up_costs_nobody_anything(server: Server, crossplane: Crossplane) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as raw:
        raw.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    with grpc.insecure_channel(server.address) as channel:
        req = fnv1.RunFunctionRequest()
        req.observed.composite.resource.update(deployment(1))
        Crossplane(channel).stub.RunFunction.future(req).cancel()
    assert crossplane.reconcile(deployment(1), FLEET).desired.resources


def test_health_is_answered(server: Server) -> None:
    with grpc.insecure_channel(server.address) as channel:
        answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
    assert answer.status == health_pb2.HealthCheckResponse.SERVING


@pytest.mark.slow
def test_a_request_over_the_limit_is_told_so() -> None:
    with (
        running("--insecure", "--max-recv-message-size", "1") as small,
        grpc.insecure_channel(small.address) as channel,
    ):
        req = fnv1.RunFunctionRequest()
        req.observed.composite.resource.update({"data": "x" * (2 << 20)})
        with pytest.raises(grpc.RpcError) as error:
            Crossplane(channel).stub.RunFunction(req)
        assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert Crossplane(channel).reconcile(deployment(1), FLEET).desired.resources


@pytest.mark.slow
def test_it_logs_a_line_a_call_and_stops_clean() -> None:
    with running() as one, grpc.insecure_channel(one.address) as channel:
        Crossplane(channel).reconcile(deployment(1), FLEET)
        assert one.stop() == 0
        lines = [json.loads(line) for line in one.log.read_text().splitlines()]
    answered = [line for line in lines if line["msg"] == "Answered"]
    assert [(line["kind"], line["name"]) for line in answered] == [("ModelDeployment", "ml/qwen")] * len(answered)
    assert len(answered) == 3
    assert lines[-1]["msg"] == "Stopped"


@pytest.mark.slow
def test_a_port_that_is_taken_is_an_error_that_names_it(server: Server) -> None:
    with running() as another:
        taken = subprocess.run(
            [*another.process.args[:-1], "--address", server.address, "--insecure"],
            capture_output=True,
            check=False,
            timeout=60,
        )
    assert taken.returncode == 1
    assert server.address in taken.stderr.decode()
    assert "Traceback" not in taken.stderr.decode()


# TLS


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pki")
    certificates_of.write(folder)
    return folder


def channel(folder: Path, port: int, *, certificate: bool = True) -> grpc.Channel:
    read = lambda name: (folder / name).read_bytes()  # noqa: E731
    own = {"private_key": read("tls.key"), "certificate_chain": read("tls.crt")} if certificate else {}
    credentials = grpc.ssl_channel_credentials(root_certificates=read("ca.crt"), **own)
    return grpc.secure_channel(f"localhost:{port}", credentials)


@pytest.mark.slow
def test_over_tls_only_clients_of_the_authority_are_answered(certificates: Path) -> None:
    with running("--tls-certs-dir", str(certificates)) as one:
        with channel(certificates, one.port) as known:
            assert Crossplane(known).reconcile(deployment(1), FLEET).desired.resources
        with channel(certificates, one.port, certificate=False) as stranger, pytest.raises(grpc.RpcError):
            Crossplane(stranger).reconcile(deployment(1), FLEET)


@pytest.mark.slow
def test_certificates_that_change_are_taken_up(certificates: Path, tmp_path: Path) -> None:
    for name in ("ca.crt", "tls.crt", "tls.key"):
        (tmp_path / name).write_bytes((certificates / name).read_bytes())
    with running("--tls-certs-dir", str(tmp_path)) as one:
        with channel(certificates, one.port) as before:
            assert Crossplane(before).reconcile(deployment(1), FLEET).desired.resources
        certificates_of.write(tmp_path)
        with channel(tmp_path, one.port) as after:
            assert Crossplane(after).reconcile(deployment(1), FLEET).desired.resources


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["ca.crt", "tls.crt", "tls.key"])
def test_certificates_that_are_broken_are_not_taken_up(certificates: Path, tmp_path: Path, broken: str) -> None:
    """An empty authority would lock everyone out. The old files serve until all of the new ones are sound."""
    for name in ("ca.crt", "tls.crt", "tls.key"):
        (tmp_path / name).write_bytes((certificates / name).read_bytes())
    with running("--tls-certs-dir", str(tmp_path)) as one:
        certificates_of.write(tmp_path)
        sound = (tmp_path / broken).read_bytes()
        (tmp_path / broken).write_bytes(b"")
        for _ in range(2):
            with channel(certificates, one.port) as before:
                assert Crossplane(before).reconcile(deployment(1), FLEET).desired.resources
        (tmp_path / broken).write_bytes(sound)
        with channel(tmp_path, one.port) as after:
            assert Crossplane(after).reconcile(deployment(1), FLEET).desired.resources
        warnings = [line for line in one.log.read_text().splitlines() if "Kept the certificates" in line]
    assert len(warnings) == 1
    assert str(tmp_path / broken) in warnings[0]


@pytest.mark.slow
def test_a_certificate_that_cannot_be_used_is_told_with_its_file(certificates: Path, tmp_path: Path) -> None:
    for name in ("ca.crt", "tls.crt"):
        (tmp_path / name).write_bytes((certificates / name).read_bytes())
    (tmp_path / "tls.key").write_text("garbage")
    why = f"Error: cannot serve: --tls-certs-dir: {tmp_path}/tls.key: it contains no PEM private key"
    with pytest.raises(AssertionError, match=re.escape(why)), running("--tls-certs-dir", str(tmp_path)):
        pass


@pytest.mark.slow
def test_insecure_wins_over_certificates(certificates: Path) -> None:
    """As Crossplane's specification of functions asks; and there is one listener, not two."""
    with running("--tls-certs-dir", str(certificates), "--insecure") as one:
        for _ in range(8):
            with grpc.insecure_channel(one.address) as plain:
                assert Crossplane(plain).reconcile(deployment(1), FLEET).desired.resources


@pytest.mark.slow
def test_no_certificates_and_not_insecure_is_refused() -> None:
    with pytest.raises(AssertionError, match="--insecure"), running("--max-send-message-size", "4"):
        pass


@pytest.mark.slow
def test_a_second_signal_does_not_hurt() -> None:
    with running() as one:
        one.process.send_signal(signal.SIGINT)
        assert one.process.wait(15) == 0
