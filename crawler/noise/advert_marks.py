"""Marks of noise that hold on every site: evidence in addition to that of the learned model.

- Size: one of the standard sizes of adverts, long and narrow.
- Address: the image lies in a folder or on a host for adverts, or it leads to one, or to a counter of clicks.
- Keywords: the score of Li 2006 is above its limit, and the image leads to another site.
- Repetition: several pages of the site show the image (formula 3 of Li 2006, far below the limit of that model).
"""

from __future__ import annotations

import re
from functools import lru_cache

from crawler.noise.image_evidence import Sighting
from crawler.noise.li2006 import LEAST_PAGES
from crawler.urls.address import address_of

# Standard sizes of adverts, and those of Chinese portals, in pixels.
ADVERT_SIZES = frozenset(
    (
        *((468, 60), (728, 90), (234, 60), (120, 600), (160, 600), (300, 250), (336, 280), (250, 250), (970, 250)),
        *((970, 90), (300, 600), (320, 50), (320, 100), (88, 31), (120, 60), (120, 90), (125, 125), (120, 240)),
        *((240, 400), (180, 150), (200, 200), (300, 100), (760, 90), (950, 90), (960, 90), (1000, 90), (980, 120)),
    )
)
ADVERT_FOLDERS = frozenset(
    "ads adv advert adverts advertise advertisement advertisements advertiser advertisers advertising adserver "
    "adserv adservice adclick adview adimg adimage adimages banner banners bannerads sponsor sponsors sponsored "
    "sponsorship affiliate affiliates popunder guanggao".split()
)
"""Names of folders for adverts."""
ADVERT_HOSTS = ADVERT_FOLDERS | {"ad"}
"""Names of subdomains for adverts. `ad` is no name of a folder: folders named by a checksum may be called so, too."""
CLICK_NAMES = frozenset("click clicks clk clickthru clickthrough adclick clicktrack clicktracker".split())
"""Names of programs that count clicks."""
BANNER_RATIO = 2.5
"""The least ratio of the longer to the shorter side of a banner: 88 x 31 is a banner, 180 x 150 is not."""
REPEATED_SHARE = 0.05
"""Share of a site's pages above which an image is repeated. It is low because up to 20 banners may take turns."""
MAX_ADDRESS = 300
"""The most characters of an address, or of its folder, that are read."""
DIGITS = "0123456789"
_SEPARATORS = re.compile(r"[/.]")


def has_banner_size(sighting: Sighting) -> bool:
    """Whether the page gives the image a standard size of adverts that is long and narrow. Photos may have the other
    standard sizes.
    """
    if sighting.size not in ADVERT_SIZES:
        return False
    width, height = sighting.size
    return width is not None and height is not None and max(width, height) >= BANNER_RATIO * min(width, height)


def has_advert_address(sighting: Sighting) -> bool:
    """Whether the image or its target has an address for adverts, and the page that shows the image has none."""
    if is_advert_address(sighting.page):
        return False
    return is_advert_address(sighting.url) or is_advert_address(sighting.target) or counts_clicks(sighting.target)


@lru_cache(maxsize=4096)
def is_advert_address(url: str) -> bool:
    """Whether a folder of an address or a part of its host, apart from the domain itself, has a name for adverts.

    >>> is_advert_address("http://a.example/ads/b.png"), is_advert_address("http://ads2.example.com/b.png")
    (True, True)
    >>> is_advert_address("http://a.example/b/ads.png"), is_advert_address("http://ads.com/b.png")
    (False, False)
    """
    if "://" not in url:
        return False
    subdomains = address_of(url).host.removesuffix(address_of(url).site).split(".")
    folders = address_of(url).folder[:MAX_ADDRESS].lower().split("/")[3:]  # after the scheme and the host
    if any(name.rstrip(DIGITS) in ADVERT_HOSTS for name in subdomains):
        return True
    return any(name.rstrip(DIGITS) in ADVERT_FOLDERS for name in folders)


@lru_cache(maxsize=4096)
def counts_clicks(url: str) -> bool:
    """Whether a folder or the file of an address has the name of a program that counts clicks.

    >>> counts_clicks("http://a.example/click.php?to=b"), counts_clicks("http://a.example/b?click=1")
    (True, False)
    """
    path = url[:MAX_ADDRESS].partition("://")[2].partition("?")[0].partition("/")[2]
    return any(name in CLICK_NAMES for name in _SEPARATORS.split(path.lower()))


def leads_elsewhere(sighting: Sighting) -> bool:
    """Whether the image links to a site other than that of its page."""
    return bool(sighting.target) and address_of(sighting.target).site != address_of(sighting.page).site


def is_repeated(share: float | None, pages: int) -> bool:
    """Whether several of a site's pages show the image: `share` of its `pages`."""
    return share is not None and share > REPEATED_SHARE and round(share * pages) >= LEAST_PAGES
