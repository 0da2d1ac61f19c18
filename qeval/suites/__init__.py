"""Suites: named, versioned sets of cases; found, generated where needed, and checked before any model loads."""

from qeval.suites.case import SIZES, Case, Size, Suite, SuiteHeader
from qeval.suites.load import SuiteEntry, find, list_suites, load_suite, load_suites, select

__all__ = [
    "SIZES",
    "Case",
    "Size",
    "Suite",
    "SuiteEntry",
    "SuiteHeader",
    "find",
    "list_suites",
    "load_suite",
    "load_suites",
    "select",
]
