"""Labels and annotations that Crossplane itself sets."""

COMPOSITE = "crossplane.io/composite"
"""Label of a composed resource and of the XR itself: the name of the XR, or of the topmost XR if XRs are nested."""
COMPOSITION_KEY = "crossplane.io/composition-resource-name"
"""Annotation of a composed resource: its composition key."""
DELETION_ATTEMPT = "usage.crossplane.io/deletion-attempt-with-policy"
"""Annotation of an object whose deletion a Usage blocked: the deletion policy (crossplane v2.3)."""
