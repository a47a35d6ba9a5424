"""Reads the fleet from manifests: InferenceClusters and ModelReplicas as the scheduler sees them.

No other package parses these manifests for scheduling, so nodes are counted in one way only.
"""
