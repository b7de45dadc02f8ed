"""The mutants' own tests are collected where mutmut is installed, which it is not at the lowest and newest versions."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("mutmut") else ["test_mutants.py"]
