"""Values that only functions look into."""

from __future__ import annotations

from function.cel.values.addresses import Cidr, Ip
from function.cel.values.formats import Format
from function.cel.values.quantity import Quantity
from function.cel.values.semver import Semver
from function.cel.values.urls import Url

OPAQUE = (Quantity, Semver, Url, Ip, Cidr, Format)
