"""One row of the table of engines: what a program that serves models can be told, and how."""

from __future__ import annotations

from dataclasses import dataclass

ANYWHERE = "0.0.0.0"  # noqa: S104 (not our listener)
LOCALHOST = "127.0.0.1"
OFFLINE = "HF_HUB_OFFLINE"
"""Keeps huggingface_hub from any request if it is 1 (huggingface_hub 2.4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A program that takes requests: an engine, or a router in front of engines.

    Flags are spelled with their dashes. Underscores in a flag's name count as dashes, in the table and on a command
    line: some parsers accept both, and no engine has two flags that differ only in that. Where a flag and a variable
    say different things, the flag wins; that is so in every engine of the table.
    """

    name: str
    """Its name in messages; for an engine also the word in `engines[].runtime`."""
    source: str
    """Version and source of the facts of this row."""

    programs: tuple[tuple[str, ...], ...] = ()
    """Commands that start it: the file name of the executable, then its subcommand."""
    modules: tuple[str, ...] = ()
    """Python modules that start it, with `python -m`."""
    scripts: tuple[str, ...] = ()
    """Ends of paths of Python scripts that start it."""
    images: tuple[str, ...] = ()
    """Texts in an image's repository, as whole words, that identify it. Registry and tag do not count."""

    entry_takes_flags: bool = False
    """Whether the entry point of its images starts it, and takes `args` as its flags."""
    bare_images: tuple[str, ...] = ()
    """Texts in the repository of images whose entry point runs `args` as a program, unlike the others."""

    model_flags: tuple[str, ...] = ()
    """Flags that name the model."""
    model_variables: tuple[str, ...] = ()
    positional_model: bool = False
    """Whether an argument that is not an option is the model."""
    file_flags: tuple[str, ...] = ()
    """Flags of files that can set any other option, the model included."""
    gives_model: str = ""
    """The flag by which it is given a directory with a model. Empty if there is none."""

    name_flags: tuple[str, ...] = ()
    """Flags of the model's name in requests. The default is the model itself, as it is named."""
    name_variables: tuple[str, ...] = ()
    default_name: str = ""
    """The model's name in requests if no flag names it and it is not that of the model."""
    checks_names: bool = False
    """Whether it refuses a request that names another model."""
    gives_name: str = ""
    """The flag by which it is given the model's name. Empty if there is none, or if it does not check names."""

    port_flags: tuple[str, ...] = ("--port",)
    port_variables: tuple[str, ...] = ()
    """Variables of the port. A value may be `host:port`."""
    port: int
    """The default port."""
    host_flags: tuple[str, ...] = ("--host",)
    host_variables: tuple[str, ...] = ()
    host: str = ANYWHERE
    """The default address."""
    unix_flags: tuple[str, ...] = ()
    """Flags of a Unix socket that it listens on in place of a port."""
    silent_flags: tuple[str, ...] = ()
    """Flags with which it listens on no port."""
    tls_flags: tuple[str, ...] = ()
    """Flags that make it serve TLS."""
    tls_variables: tuple[str, ...] = ()

    health: str = "/health"
    """The path that answers 200 once it serves."""
    live: str = ""
    """The path that answers 200 as long as it runs. Empty if that is `health`."""

    offline: str = OFFLINE
    """The variable that keeps it from downloading if it is 1. Empty if there is none."""
    hub_flags: tuple[str, ...] = ()
    """Flags that may name a repository of a hub, besides those of the model."""
    hub_json: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Flags of a JSON object, each with the keys that may name a repository."""
    hub_lists: tuple[str, ...] = ()
    """Flags of a list of repositories: `name=repository`, JSON, or the repository alone, separated by commas or
    blanks."""
    hub_variables: tuple[str, ...] = ()

    block_flags: tuple[str, ...] = ()
    """Flags of the tokens of a KV block."""
    block: int | None = None
    """The default tokens of a KV block. Some attention backends choose their own."""
    connector_flag: str = ""
    """The flag of the JSON object that configures the transfer of KV caches."""
    llmd_type: str = ""
    """Value of the label llm-d.ai/engine-type (llm-d router v0.9). Empty if llm-d does not know it."""

    @property
    def live_path(self) -> str:
        return self.live or self.health
