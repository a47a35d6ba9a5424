"""The contract of a source of clusters (`source.py`), and what the sources share: API fields, node pools, status."""
