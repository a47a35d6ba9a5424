"""`modelplane class`: InferenceClasses from what nodes really have."""

from __future__ import annotations

from pathlib import Path

import click

from function.cli import yaml_text
from function.cli.epilog import INVALID_OPTION, epilog
from function.cli.observe import seen
from function.core import visible
from function.vocabulary import labels

_EXAMPLE = epilog(
    [
        "modelplane class from-cluster --kubeconfig cluster.kubeconfig",
        "modelplane class from-cluster --kubeconfig cluster.kubeconfig --pool h100",
        "modelplane class from-cluster --kubeconfig cluster.kubeconfig --selector gpu=h100 --name h100-8x",
    ],
    {
        0: "written",
        1: "the cluster cannot be reached, or no node has devices",
        2: INVALID_OPTION,
    },
)


@click.group("class")
def class_() -> None:
    """Write InferenceClasses from what nodes really have."""


@class_.command("from-cluster", short_help="Write the classes that a cluster's nodes need.", epilog=_EXAMPLE)
@click.option("--kubeconfig", type=click.Path(path_type=Path), required=True, help="Kubeconfig of the cluster.")
@click.option("--context", help="Context of the kubeconfig. By default, its current one.")
@click.option("--pool", help="Only nodes of a pool, by their label modelplane.ai/pool.")
@click.option("--selector", "-l", help="Only nodes with these labels, as kubectl reads them.")
@click.option("--name", help="Name of the class. By default, the product and number of the devices.")
def from_cluster(
    *, kubeconfig: Path, context: str | None, pool: str | None, selector: str | None, name: str | None
) -> None:
    """Write the InferenceClasses that the nodes of a cluster need, as YAML.

    There is one class for each shape of nodes: like devices in the same numbers, and about the same cpu and memory.
    Facts of single devices, such as a UUID, are left out. Comments tell which nodes a class is for, and what to check.
    """
    if pool and selector:
        raise click.UsageError("Set either --pool or --selector.")
    found = seen(kubeconfig, context, f"{labels.POOL}={pool}" if pool else selector or "")
    from function.observe import classes, inventory, shapes

    for missing in found.missing:
        click.echo(f"not read: {visible(missing)}", err=True)
    written = classes.written(
        shapes.shapes(inventory.of(found.snapshot).places.values()), found.device_classes, name or ""
    )
    if not written:
        raise click.ClickException("no node publishes devices in ResourceSlices; is a DRA driver installed?")
    for one in written:
        for note in one.notes:
            click.echo(f"# {visible(note)}")
        if one.fault:
            click.echo(f"# Modelplane does not accept this class: {visible(one.fault)}")
        click.echo(yaml_text.documents([one.manifest], is_sorted=False), nl=False)
