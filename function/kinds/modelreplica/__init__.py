"""One serving instance of a model on one cluster: the workloads that it becomes there."""
