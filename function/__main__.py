"""The program `modelplane`, also as `python -m function`."""

from __future__ import annotations

from function.cli import interrupts


def run() -> None:
    """Run the command line."""
    with interrupts.end_at_once():
        from function.main import main
    main()


if __name__ == "__main__":
    run()
