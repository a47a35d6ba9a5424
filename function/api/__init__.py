"""The API: one module for each kind, with what users may write in it and what its status publishes. Nothing else."""
