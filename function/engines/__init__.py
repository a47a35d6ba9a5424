"""Inference servers: which one a container runs, and how it is told its model, its port and its KV connector."""
