"""What filter lists say of a picture: lists in the format of EasyList, by Brave's engine (the extra `adblock`)."""

from collections.abc import Iterable
from pathlib import Path


class FilterLists:
    """Lists of rules, read once; a check takes some 2 us."""

    def __init__(self, lists: Iterable[Path]) -> None:
        try:
            import adblock
        except ImportError:
            raise ValueError("Filter lists need the package adblock: pip install 'winnow-crawler[adblock]'.") from None
        rules = adblock.FilterSet()
        for path in lists:
            try:
                rules.add_filter_list(path.read_text(encoding="utf-8", errors="replace"))
            except OSError as error:
                raise ValueError(f"The filter list {path} cannot be read: {error.strerror}.") from None
        self._engine = adblock.Engine(rules)

    def hit(self, url: str, page: str, kind: str = "image") -> bool:
        """Whether a browser with these lists would not load an address for a page.

        `kind` is what the page loads it as: `image` for pictures, `document` for where a link leads.
        """
        return bool(self._engine.check_network_urls(url, page, kind).matched)
