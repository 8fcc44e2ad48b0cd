"""What the elements around a picture, its file and its target are called: words of six families, in many languages."""

import re
from functools import lru_cache

FAMILIES = {
    "person": (
        "avatar gravatar author byline profile user userpic headshot bio writer columnist face member commenter "
        "portrait staff reporter"
    ),
    "symbol": (
        "icon icons ico logo logos brand badge share social sharing emoji smiley emoticon button btn arrow sprite "
        "svg flag star rating spacer pixel blank dot bullet clear loading loader placeholder tracking beacon "
        "counter print rss facebook twitter whatsapp linkedin pinterest telegram youtube instagram qr qrcode "
        "weixin weibo ewm"
    ),
    "advert": (
        "ad ads adv advert advertisement advertising advertise adsense sponsor sponsored banner banners promo "
        "promotion promoted affiliate partner partners cta newsletter subscribe subscription signup donate "
        "guanggao gg marketing commercial reklama werbung anzeige publicidad pub outbrain taboola dfp gpt popup "
        "modal"
    ),
    "frame": (
        "nav navbar menu header footer sidebar side aside top topbar bottom toolbar breadcrumb widget rail "
        "masthead navigation"
    ),
    "other": (
        "related recommend recommended recommendation more popular trending teaser teasers card cards thumb "
        "thumbs thumbnail thumbnails latest list item items tile tiles grid carousel feed read next prev previous "
        "also similar most suggestions hot rank"
    ),
    "main": (
        "content article story entry post body main text figure hero lead featured feature gallery slideshow "
        "slider photo photos image media caption wp full inline zoom large original attachment attachments upload "
        "uploads editor detail details product picture"
    ),
}
MOST = 3
"""Words of a family that are counted."""
MOST_LETTERS = 150
"""Of a name, that are read."""
KEPT = 4_096
"""Names whose families are kept ready: a site's elements have the same on many pages."""
_WORD = re.compile(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]*")
_FAMILY = {word: place for place, named in enumerate(FAMILIES.values()) for word in named.split()}


@lru_cache(maxsize=KEPT)
def families(name: str) -> tuple[int, ...]:
    """How many words of each family a name has, at most three.

    >>> dict(zip(FAMILIES, families("sidebar-adBanner post_thumb"), strict=True))
    {'person': 0, 'symbol': 0, 'advert': 2, 'frame': 1, 'other': 1, 'main': 1}
    """
    found = [0] * len(FAMILIES)
    for word in _WORD.findall(name):
        if (place := _FAMILY.get(word.lower())) is not None and found[place] < MOST:
            found[place] += 1
    return tuple(found)
