"""The client of API servers: kubeconfigs and service accounts, lists in pages, and what a server refuses.

It knows no kind. The observer, `modelplane class` and the commands with `--live` use it.
"""
