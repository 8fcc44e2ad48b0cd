"""The Python API: what other programs import from `crawler`. These names and types are stable."""
