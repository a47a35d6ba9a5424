"""The reference page of what clouds need on the control cluster, from the folders in `function/clouds`."""

from __future__ import annotations

from collections.abc import Iterator

from function import clouds

PAGE = "providers.md"
TITLE = "Providers of clouds"
_NOTE = "<!-- Written by `modelplane generate` from function/clouds. Edit that. -->"
_ABOUT = """\
To make clusters in a cloud, Modelplane composes managed resources of the cloud's Crossplane providers. The
Configuration installs these providers as dependencies, its ManagedResourceActivationPolicy activates exactly the kinds
below, and [package/rbac.yaml](../../package/rbac.yaml) lets Crossplane write them and read the provider configs.

Providers named `provider-aws-*`, `provider-gcp-*` and `provider-azure-*` depend on the provider of their family, such
as `provider-family-aws`, which has the kinds ClusterProviderConfig and ProviderConfig. Crossplane installs it along
with them. See [Clusters that clouds make](../clouds.md)."""
_NONE = "No cloud is supported yet."


def page() -> str:
    """Return the page as Markdown."""
    made = [source for source in clouds.SOURCES if source.provisioner]
    sections = [line for source in made for line in _section(source)]
    return "\n".join([_NOTE, "", f"# {TITLE}", "", _ABOUT, "", *(sections or [_NONE])]).rstrip("\n") + "\n"


def _section(source: clouds.Source) -> Iterator[str]:
    assert source.provisioner is not None
    yield from (f"## {source.name}", "")
    yield f"Provider configs: `ClusterProviderConfig` and `ProviderConfig` of `{source.provisioner.provider}`."
    yield from ("", "| provider | version |", "|---|---|")
    yield from (f"| `{package.package}` | `{package.version}` |" for package in source.provisioner.packages)
    yield from ("", "| kind | activated as |", "|---|---|")
    kinds = sorted(source.provisioner.managed, key=lambda kind: (kind.kind, kind.api_version))
    yield from (f"| {kind.kind} | `{kind.plural}.{kind.api_version.partition('/')[0]}` |" for kind in kinds)
    yield ""
