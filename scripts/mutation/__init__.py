"""Mutation runs: small faults planted one by one, and which of them the tests see."""
