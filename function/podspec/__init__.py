"""Kubernetes' PodTemplateSpec: its schema, its validation, what it refers to, and the Pod Security Standards."""
