"""The contracts of extensions: what a cloud and a gateway must provide, and when it is called.

An extension is one folder in `clouds` or `gateways` and one line in the table of that package. It imports its contract
from here, and no other extension.
"""
