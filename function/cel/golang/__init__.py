"""Go code that Kubernetes' CEL functions call, ported with its exact results and messages. Nothing here knows CEL."""
