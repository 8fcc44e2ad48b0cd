"""Estimates the bytes that noise models save."""


def saved_bytes(skipped: int, kept: int, kept_bytes: int) -> int | None:
    """The estimated bytes of skipped images: their number times the mean size of the kept ones. None if images were
    skipped but none was kept.

    >>> saved_bytes(3, 2, 2_000), saved_bytes(0, 0, 0), saved_bytes(3, 0, 0)
    (3000, 0, None)
    """
    if not skipped:
        return 0
    if not kept:
        return None
    return round(skipped * kept_bytes / kept)
