"""The places in which exports are tested."""

from export_place import place

__all__ = ["place"]
