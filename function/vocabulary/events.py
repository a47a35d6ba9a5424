"""The reasons of events that are no transition of a condition.

A transition has the reason of its condition (core/transitions.py).
"""

from function.core import EventReason

# ModelDeployment: what happened to its replicas?
PLACED = EventReason("Placed", "Placed {replica} on {cluster} ({pools})")
UPDATED = EventReason("Updated", "Gave {replica} on {cluster} the current spec")
LEAVING = EventReason("Leaving", "{replica} on {cluster} must move: {why}")
REMOVED = EventReason("Removed", "Removed {replica} from {cluster}")
LOST = EventReason("Lost", "{replica} was lost with cluster {cluster}", warning=True)
YIELDED = EventReason("Yielded", "{what}", warning=True)
RETREATED = EventReason("Retreated", "{what}", warning=True)
