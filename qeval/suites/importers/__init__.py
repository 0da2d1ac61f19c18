"""Importers: what other people's files and stores hold, as cases of a suite; one file a kind.

The folder is the registry: a file here is a KIND of `qeval suites import` (`openai_log.py` is `openai-log`), imported
when it is asked for. Names that begin with an underscore, and `base`, are what they share.
"""
