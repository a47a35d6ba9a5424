"""Random edits of a fleet's deployments, as users make them."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from tests.e2e import drawing
from tests.e2e.fleet_story import Story
from tests.e2e.kube import Object
from tests.e2e.objects import changed

IMAGES = ("vllm/vllm-openai:v0.23.0", "vllm/vllm-openai:v0.24.0", "vllm/vllm-openai:v0.25.0")


def edit(story: Story, at: int, number: int) -> None:
    """Change, delete or add one deployment of a fleet."""
    fleet, random = story.fleets[at], story.random
    kind = random.choice(("replicas", "copies", "image", "image", "delete", "add"))
    deployments = list(fleet.deployments)
    if kind == "add" or not deployments:
        added = drawing.another(fleet, random, f"n{number}")
        deployments.append(added)
        story.control.api.apply(added)
    elif kind == "delete":
        story.control.api.delete(deployments.pop(random.randrange(len(deployments))))
    else:
        chosen = random.randrange(len(deployments))
        deployments[chosen] = CHANGES[kind](deployments[chosen], random)
        story.control.api.apply(deployments[chosen])
    story.fleets[at] = replace(fleet, deployments=tuple(deployments))


def _replicas(deployment: Object, random: Random) -> Object:
    return changed(deployment, "spec.replicas", random.randint(0, 3))


def _copies(deployment: Object, random: Random) -> Object:
    at = random.randrange(len(deployment["spec"]["engines"]))
    return changed(deployment, f"spec.engines.{at}.copies", random.randint(1, 2))


def _image(deployment: Object, random: Random) -> Object:
    at = random.randrange(len(deployment["spec"]["engines"]))
    members: Sequence[Object] = deployment["spec"]["engines"][at]["members"]
    image = random.choice(IMAGES)
    for index in range(len(members)):
        path = f"spec.engines.{at}.members.{index}.template.spec.containers.0.image"
        deployment = changed(deployment, path, image)
    return deployment


CHANGES = {"replicas": _replicas, "copies": _copies, "image": _image}
