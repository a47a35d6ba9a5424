"""The fleet as the scheduler sees it: the one reader of InferenceClusters and ModelReplicas."""
