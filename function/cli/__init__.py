"""The command line's commands: files in, terminal out."""
