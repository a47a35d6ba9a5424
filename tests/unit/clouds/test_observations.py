"""What clouds make up in plans is told, so that no plan shows it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from function import clouds
from function.contracts.cloud.provisioner import Provisioner
from function.core import dig
from function.main import main
from function.planning import looks

EXAMPLES = Path(__file__).parents[3] / "examples"
CASES = [(cloud, kind) for cloud in clouds.PROVISIONERS for kind in cloud.managed]
_ID = "id"


def resource(kind: Any) -> dict[str, Any]:
    metadata = {"name": "some-name", "namespace": "modelplane-system"}
    spec = {"forProvider": {"location": "here", "region": "here"}}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": spec}


@pytest.mark.parametrize(("cloud", "kind"), CASES, ids=lambda case: getattr(case, "kind", ""))
def test_an_id_that_is_made_up_is_told(cloud: Provisioner, kind: Any) -> None:
    seen = cloud.observe(resource(kind))

    id_ = dig(seen.at_provider, _ID)
    assert id_ in (None, "some-name", *seen.invented)
    assert set(seen.invented) <= set(_texts(seen.at_provider))


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for child in children for text in _texts(child)]


@pytest.mark.slow
def test_no_manifest_of_a_cloud_has_what_was_made_up() -> None:
    """Of two clouds from nothing."""
    got = CliRunner().invoke(main, ["manifests", str(EXAMPLES / "clouds/tour"), "-o", "json"])

    manifests = [one["manifest"] for cluster in json.loads(got.stdout)["clusters"] for one in cluster["manifests"]]
    known = looks.kinds(clouds.PROVISIONERS)
    made = [one for one in manifests if (one["apiVersion"], one["kind"]) in known]
    invented = {text for one in made for text in known[one["apiVersion"], one["kind"]].cloud.observe(one).invented}
    assert (len(made) > 40, [text for text in invented if text in got.stdout]) == (True, [])
    assert "(known after apply)" in got.stdout
