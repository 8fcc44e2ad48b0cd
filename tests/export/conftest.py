"""The place in which exports are tested."""

from export_place import either, place

__all__ = ["either", "place"]
