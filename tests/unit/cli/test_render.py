"""`modelplane render`: the flags and the output of `crossplane composition render`.

What is asserted here was compared byte for byte with crossplane/cli v2.5.0 over the cores v2.3.4 and v2.4.0.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from function.cli import yaml_text
from function.main import main
from tests.support import crossplane_flags

ROOT = Path(__file__).parents[3]
TOUR = ROOT / "examples/tour"
CLUSTER = f"{TOUR}/clusters.yaml#starter"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["render", *arguments])


def documents(*arguments: str) -> list[dict[str, Any]]:
    got = run(*arguments)
    assert got.exit_code == 0, got.stderr
    return list(yaml.safe_load_all(got.stdout))


@pytest.fixture
def observed(tmp_path: Path) -> str:
    """A cluster's provider config, composed before."""
    config = {
        "apiVersion": "kubernetes.m.crossplane.io/v1alpha1",
        "kind": "ClusterProviderConfig",
        "metadata": {
            "name": "kept-as-it-is-called",
            "annotations": {"crossplane.io/composition-resource-name": "provider-config"},
        },
        "spec": {},
    }
    file = tmp_path / "observed.yaml"
    file.write_text(yaml_text.document(config))
    return str(file)


def test_the_xr_shows_what_the_reconcile_leaves_of_it() -> None:
    """Who it is, its references (none is said too), and its status; no label, no spec."""
    xr = documents(CLUSTER, "-e", str(TOUR))[0]

    got = xr["metadata"], xr["spec"], sorted(c["type"] for c in xr["status"]["conditions"])
    want_conditions = ["BackendReady", "ClusterReady", "Ready", "Responsive", "Synced"]
    assert got == ({"name": "starter"}, {"crossplane": {"resourceRefs": []}}, want_conditions)


def test_every_time_is_the_same() -> None:
    text = run(CLUSTER, "-e", str(TOUR)).stdout

    assert set(yaml_times(text)) == {'"2024-01-01T00:00:00Z"'}


def yaml_times(text: str) -> list[str]:
    return [line.partition(": ")[2] for line in text.splitlines() if "lastTransitionTime" in line]


def test_the_full_xr_has_what_was_given_and_what_became_of_it() -> None:
    xr = documents(CLUSTER, "-e", str(TOUR), "-x")[0]

    got = xr["metadata"]["labels"], xr["spec"]["cluster"]["source"], xr["spec"]["crossplane"], xr["status"]["nodes"]
    assert got == ({"modelplane.ai/region": "us-central"}, "Existing", {"resourceRefs": []}, 2)


def test_what_is_composed_is_marked_and_sorted_by_key() -> None:
    _, *composed = documents(f"{TOUR}/deployment.yaml", "-e", str(TOUR))

    keys = [m["metadata"]["annotations"]["crossplane.io/composition-resource-name"] for m in composed]
    assert keys == sorted(keys)


def test_results_are_documents_of_their_own() -> None:
    results = [d for d in documents(CLUSTER, "-e", str(TOUR), "-r") if d["kind"] == "Result"]

    assert results[0] == {
        "apiVersion": "render.crossplane.io/v1beta1",
        "kind": "Result",
        "severity": "Normal",
        "reason": "SelectComposition",
        "message": "Successfully selected composition: inferenceclusters.modelplane.ai",
    }


def test_context_passes_through() -> None:
    *_, last = documents(CLUSTER, "-e", str(TOUR), "-c", "--context-values", 'a={"b":1}')
    without = documents(CLUSTER, "-e", str(TOUR), "-c")

    want = {"apiVersion": "render.crossplane.io/v1beta1", "kind": "Context", "fields": {"a": {"b": 1}}}
    assert (last, [d["kind"] for d in without]) == (want, ["InferenceCluster"])


def test_a_context_may_stand_in_a_file_and_be_yaml(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("b: [1, x]\n")

    *_, last = documents(CLUSTER, "-c", "--context-files", f"a={tmp_path}/a.yaml", "--context-values", "c=text")

    assert last["fields"] == {"a": {"b": [1, "x"]}, "c": "text"}


def test_a_context_that_is_neither_json_nor_yaml_is_a_wrong_option() -> None:
    got = run(CLUSTER, "--context-values", 'a={"b": [}')

    want = "Error: the context's value for a:1:8: } closes nothing here; put a text that contains it in quotes"
    assert (got.exit_code, got.stderr.splitlines()[-1]) == (2, want)


def test_arguments_and_flags_of_crossplane_are_taken(observed: str) -> None:
    composition = str(ROOT / "compositions/inferenceclusters.yaml")

    got = run(
        CLUSTER, composition, "functions.yaml", "--required-resources", str(TOUR),
        "--extra-resources", str(TOUR / "classes.yaml"),
        "--observed-resources", observed, "--include-function-results", "--include-full-xr", "--include-context",
        "--xrd", str(ROOT / "xrds/inferenceclusters.yaml"),
    )  # fmt: skip

    assert (got.exit_code, got.stderr) == (0, "")


@pytest.mark.parametrize("flag", [*crossplane_flags.MEANT, *crossplane_flags.MEANINGLESS, *crossplane_flags.SHORT])
def test_every_flag_of_crossplane_is_taken_and_what_means_nothing_is_named(flag: str, observed: str) -> None:
    name = crossplane_flags.SHORT.get(flag, flag)
    values = {**crossplane_flags.MEANT, **crossplane_flags.MEANINGLESS, "--observed-resources": observed}

    got = run(CLUSTER, flag, *filter(None, [values[name]]))

    why = "; the function runs in this program, without Docker and without projects\n"
    assert (got.exit_code, got.stderr) == (0, f"ignored: {name}{why}" if name in crossplane_flags.MEANINGLESS else "")


def test_ignored_flags_are_one_line_that_quiet_leaves_out() -> None:
    given = ["--timeout=1m", "-a", "a=b", "-a", "c=d", "--crossplane-binary", "crossplane"]

    got, quiet = run(CLUSTER, *given), run("-q", CLUSTER, *given)

    assert got.stderr.startswith("ignored: --crossplane-binary, --function-annotations, --timeout; ")
    assert (len(got.stderr.splitlines()), quiet.stderr, quiet.stdout) == (1, "", got.stdout)


def test_several_files_may_stand_in_one_flag() -> None:
    together = documents(CLUSTER, "-e", f"{TOUR}/classes.yaml,{TOUR}/clusters.yaml")

    assert together == documents(CLUSTER, "-e", f"{TOUR}/classes.yaml", "-e", f"{TOUR}/clusters.yaml")


def test_a_definition_fills_in_defaults() -> None:
    xr = documents(f"{TOUR}/rivals.yaml#gemma-3-12b", "--xrd", str(ROOT / "xrds/modeldeployments.yaml"), "-x")[0]

    assert (xr["spec"]["replicas"], xr["spec"]["engines"][0]["copies"]) == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "want"),
    [
        (("nowhere.yaml",), "nowhere.yaml: no such file or folder"),
        ((f"{TOUR}/clusters.yaml",), "append #KIND/NAME to say which of InferenceCluster/starter,"),
        ((f"{TOUR}/clusters.yaml#nobody",), "has nothing called nobody"),
        ((CLUSTER, f"{ROOT}/compositions/modelcaches.yaml"), "compositeTypeRef.kind (ModelCache) does not match"),
        ((CLUSTER, "--xrd", f"{ROOT}/xrds/modelcaches.yaml"), "does not define InferenceCluster of"),
        ((CLUSTER, "--context-files", "a=nowhere.yaml"), "nowhere.yaml: no such file or folder"),
        ((CLUSTER, "-o", f"{TOUR}/classes.yaml"), "has no annotation crossplane.io/composition-resource-name"),
    ],
)  # fmt: skip
def test_what_cannot_be_rendered_is_one_line(arguments: tuple[str, ...], want: str) -> None:
    got = run(*arguments)

    assert (got.exit_code, got.stdout, want in got.stderr, len(got.stderr.splitlines())) == (1, "", True, 1), got.stderr


@pytest.mark.parametrize(
    ("spec", "code", "said"),
    [
        ("null", 0, "spec.cluster: is required; what runs stays as it is"),
        ("[1]", 1, "Error: the spec of InferenceCluster edge must be a map of fields"),
        ("text", 1, "Error: the spec of InferenceCluster edge must be a map of fields"),
    ],
)
def test_a_spec_that_is_no_map_is_no_bug_of_ours(tmp_path: Path, spec: str, code: int, said: str) -> None:
    file = tmp_path / "xr.yaml"
    head = "apiVersion: modelplane.ai/v1alpha1\nkind: InferenceCluster\nmetadata: {name: edge}\n"
    file.write_text(f"{head}spec: {spec}\n")

    got = run(str(file))
    assert (got.exit_code, said in got.stdout + got.stderr) == (code, True)
