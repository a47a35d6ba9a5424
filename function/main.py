"""The command line."""

import click


@click.group()
def main() -> None:
    """Serve AI models on fleets of GPU clusters."""
