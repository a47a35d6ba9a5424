"""Every shell command that a page shows could be run: of ours, of kubectl, and of what else a reader needs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.docs import pages, shell


def scripts(page: Path) -> list[str]:
    """The blocks of a page as scripts."""
    typed = ["\n".join(block.commands) for block in pages.of("console", [page])]
    return [*typed, *(block.text for block in pages.of("shell sh", [page]))]


SCRIPTS = [script for page in pages.WRITTEN for script in scripts(page)]


@pytest.mark.parametrize("page", [page for page in pages.WRITTEN if scripts(page)], ids=pages.name)
def test_every_command_that_is_shown_is_right(page: Path) -> None:
    assert [problem for script in scripts(page) for problem in shell.problems(script)] == []


def test_every_block_is_one_that_a_shell_can_read() -> None:
    functions = "".join(f"block{i}() {{ :\n{script}\n}}\n" for i, script in enumerate(SCRIPTS))
    done = subprocess.run(["bash", "-n"], input=functions, capture_output=True, text=True, check=False)

    assert done.stderr == ""


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("modelplane plan fleet/ --nope", "No such option"),
        ("A=b modelplane class from-clusters", "No such command"),
        ("x=$(modelplane nope)", "No such command"),
        ("cat a | modelplane plan - --nope", "No such option"),
        ("for a in b; do modelplane nope; done", "No such command"),
        ("cat <<'END' | modelplane nope\nmodelplane plan\nEND", "No such command"),
        ("modelplane plan \\\n  --nope fleet/", "No such option"),
        ("modelplane plan examples/nope.yaml", "examples/nope.yaml is not in the repository"),
        ("kubectl apply -f package/nope.yaml", "package/nope.yaml is not in the repository"),
        ("make nope", "make has no target nope"),
        ("python -m package.nope", "there is no module package.nope"),
        ("crossplane xpkg nope", "crossplane has no command xpkg nope"),
        ("helm nope", "helm has no command nope"),
        ("nope a", "is nope a program?"),
        ("kubectl nope", "kubectl has no command nope"),
        ("kubectl get pods,nopes -A", "is nopes a kind?"),
        ("kubectl -n a get ms b -o jsonpath='{.status.nope}'", "ModelService has no field status.nope"),
        ("kubectl get ms -o jsonpath='{.status.endpoints.nope}'", "ModelService has no field status.endpoints.nope"),
        ("kubectl get ms -o jsonpath='{.status.conditions[?(@.type==\"Nope\")]}'", "no condition has the type Nope"),
        ("kubectl get pods -l modelplane.ai/nope=a", "there is no label modelplane.ai/nope"),
    ],
)
def test_a_wrong_command_is_found(script: str, problem: str) -> None:
    [found] = shell.problems(script)

    assert problem in found


@pytest.mark.parametrize(
    "script",
    [
        "kubectl get ms,secrets -n NAMESPACE --context CLUSTER",
        "kubectl get KIND NAME",
        "kubectl get pods -o jsonpath='{.status.conditions[?(@.type==\"Scheduled\")].status}'",
        "kubectl get ms NAME -o jsonpath='{.status.endpoints.ready}{\"\\n\"}' | cut -c1-20",
        'kubectl patch inferencecluster us-east --type merge -p \'{"spec": {"taints": []}}\'',
        "modelplane plan fleet/ --base origin/main -o json > plan.json || code=$?",
        'case "$code" in 0 | 3) ;; *) exit "$code" ;; esac',
        "modelplane class from-cluster --kubeconfig cluster.kubeconfig --pool POOL  # a comment",
        "curl \"$(kubectl get modelservice qwen -n ml-team -o jsonpath='{.status.address}')/v1/models\"",
        "helm upgrade crossplane … --set args='{--a=1}'",
    ],
)
def test_a_right_command_is_not(script: str) -> None:
    assert shell.problems(script) == []


def test_some_commands_are_shown() -> None:
    assert len([words for script in SCRIPTS for words in shell.commands(script)]) > 100
