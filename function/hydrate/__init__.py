"""Staging weights: all files of one commit in one directory, checked, or no directory at all."""
