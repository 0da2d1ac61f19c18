"""`python -m qeval`."""

from qeval.cli.main import entry

entry()
