"""The flags of `crossplane composition render`, each with a value to try (crossplane/cli v2.5.0).

tests/e2e/test_examples.py compares the names with the help of the real program.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
TOUR = f"{ROOT}/examples/tour"

MEANT = {
    "--context-files": f"a={TOUR}/classes.yaml",
    "--context-values": "b=1",
    "--include-function-results": "",
    "--include-full-xr": "",
    "--observed-resources": "",  # the test has a file
    "--extra-resources": f"{TOUR}/classes.yaml",
    "--required-resources": f"{TOUR}/classes.yaml,{TOUR}/clusters.yaml",
    "--include-context": "",
    "--xrd": f"{ROOT}/xrds/inferenceclusters.yaml",
}
"""Flags that mean the same offline."""
MEANINGLESS = {
    "--cache-dir": "cache",
    "--config": "config.yaml",
    "--crossplane-binary": "crossplane",
    "--crossplane-docker-network": "kind",
    "--crossplane-image": "crossplane:stable",
    "--crossplane-version": "v2.4.0",
    "--function-annotations": "render.crossplane.io/runtime=Development",
    "--function-credentials": "credentials.yaml",
    "--max-concurrency": "8",
    "--project-file": "crossplane-project.yaml",
    "--required-schemas": "schemas",
    "--timeout": "1m",
    "--verbose": "",
}
"""Flags that are named and ignored."""
SHORT = {
    "-r": "--include-function-results",
    "-x": "--include-full-xr",
    "-o": "--observed-resources",
    "-e": "--required-resources",
    "-s": "--required-schemas",
    "-c": "--include-context",
    "-a": "--function-annotations",
    "-f": "--project-file",
}
