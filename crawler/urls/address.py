"""The parts of an address.

The database, items, records and Scrapy hold addresses as text. `address_of` splits an address into its parts, and
caches the parts of the last addresses. Records do not store the parts: most links lead to known addresses, whose parts
are not needed.
"""

from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tldextract import TLDExtract

REMEMBERED = 8192
"""The parts of this many addresses are cached: enough for the links of the pages in progress. They take some 4 MB."""
# File name extensions that neither pages nor feeds have.
NOT_PAGES = frozenset(
    "7z aac ai apk avi avif bin bmp bz2 cab css csv dmg doc docx eot eps epub exe flac flv gif gz ico iso jar jpeg "
    "jpg js json m4a m4v mid mkv mov mp3 mp4 mpeg mpg msi odp ods odt ogg ogv pdf png ppt pptx ps psd rar rpm rtf svg "
    "swf tar tgz tif tiff ttf wav webm webp wma wmv woff woff2 xls xlsx xz zip zst".split()
)


class Address(NamedTuple):
    """The parts of an address. It is a tuple, the cheapest immutable value, because one is built for each new link."""

    scheme: str
    """Scheme and host are empty for a text that is no address."""
    host: str
    """The host, with its port unless that is the default."""
    path: str
    """It begins with a slash, unless the text is no address."""
    query: str

    @property
    def origin(self) -> str:
        """Scheme, host and port.

        >>> address_of("https://example.com:8443/a?b").origin
        'https://example.com:8443'
        """
        return f"{self.scheme}://{self.host}"

    @property
    def site(self) -> str:
        """The registrable domain; the host with its port if there is none, as for IP addresses and localhost.

        >>> [address_of(f"http://{host}/").site for host in ("news.bbc.co.uk", "me.github.io", "127.0.0.1:8000")]
        ['bbc.co.uk', 'me.github.io', '127.0.0.1:8000']
        """
        return _site_of_host(self.host)

    @property
    def folder(self) -> str:
        """The address up to the last slash of its path.

        >>> address_of("http://example.com/a/b?c/d").folder, address_of("http://example.com").folder
        ('http://example.com/a/', 'http://example.com/')
        """
        return f"{self.origin}{self.path.rpartition('/')[0]}/"

    @property
    def name(self) -> str:
        """The last segment of the path, which may be the name of a file.

        >>> address_of("http://example.com/a/b.html?c").name, address_of("http://example.com/a/").name
        ('b.html', '')
        """
        return self.path.rpartition("/")[2]

    @property
    def ending(self) -> str | None:
        """The file name extension if it is in NOT_PAGES, such as pdf; None for the address of a page.

        A name with a colon is always a page's: a wiki describes the file `A.jpg` on the page `File:A.jpg`.

        >>> [address_of(f"http://example.com/{path}").ending for path in ("a.PDF?b", "a.b/c", "File:A.jpg")]
        ['pdf', None, None]
        """
        stem, dot, suffix = self.name.rpartition(".")
        suffix = suffix.lower()
        if dot and suffix in NOT_PAGES and ":" not in stem:
            return suffix
        return None


@lru_cache(maxsize=REMEMBERED)
def address_of(url: str) -> Address:
    """The parts of an address.

    >>> address_of("https://example.com:8443/a?b#c"), address_of("http://[::1]").path
    (Address(scheme='https', host='example.com:8443', path='/a', query='b'), '/')
    """
    location, _, query = url.partition("#")[0].partition("?")
    scheme, sign, rest = location.partition("://")
    if not sign:
        return Address("", "", location, query)
    host, _, path = rest.partition("/")
    return Address(scheme, host.lower(), f"/{path}", query)


def without_port(host: str) -> str:
    """The host name or IP address without a port.

    >>> [without_port(host) for host in ("example.com:8000", "[::1]:8000", "[::1]", "10.0.0.1")]
    ['example.com', '[::1]', '[::1]', '10.0.0.1']
    """
    before, colon, _ = host.rpartition(":")
    if colon and not host.endswith("]"):
        return before
    return host


@cache
def _public_suffixes() -> "TLDExtract":
    # Imported when first used, because the import takes .1 s. The package contains the list of public suffixes: nothing
    # is downloaded or written. Suffixes under which anybody can register names (github.io, blogspot.com) are included,
    # so that one author's pages are one site.
    from tldextract import TLDExtract

    return TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)


@lru_cache(maxsize=65536)
def _site_of_host(name: str) -> str:
    return _public_suffixes().extract_str(without_port(name)).top_domain_under_public_suffix or name
