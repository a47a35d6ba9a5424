"""A model served by replicas: which clusters they go to, and how they are rolled out."""
