"""Told to people."""
