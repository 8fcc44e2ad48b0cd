"""Recognises walls against robots, which a service in front of a site sends instead of the page.

A wall is a challenge or a block page. Each service has marks: headers, addresses of its scripts, names in its source.
The table has only marks of walls, and none that a service also puts into the pages it lets through, such as
Cloudflare's `/cdn-cgi/challenge-platform/scripts/jsd/main.js`, Akamai's `/akam/`, the sensors of PerimeterX and
DataDome, and the headers `x-datadome` and `x-iinfo`. Words of a wall are marks only with the tags around them, because
articles and manuals quote them.

A mark in the source names the service. A page with a mark is a wall only if its status refuses the request, or if it
has little text and does not only quote the mark. A header is enough by itself, because services send these headers
only with walls.

Nothing is done to get past a wall.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from crawler.page.page import Page, is_html
from crawler.page.text import width

PAYMENT_REQUIRED = 402
"""The status of a site that openly asks for payment, which is not a wall."""
REFUSING = frozenset((202, 401, 403, 405, 406, 412, 418, 429, 468, 493, 503, 521, 566, 567))
"""Statuses of walls. 202 is that of AWS WAF, SiteGround and River Security, 412 of River Security, 418 of go-away,
468 of SafeLine, 493 of 360, 521 of Jiasule, 566 and 567 of EdgeOne.
"""
WITHOUT_PAGE = frozenset((301, 302, 303, 307, 308, 404, 410))
"""Statuses of addresses without a page: such a response is a wall only if a header says so."""
MOST_BYTES = 60_000
"""Bytes at the beginning of a source in which marks are looked for. A longer page is not a wall unless its status
refuses the request. Searching 100 KB for one mark takes up to 0.1 ms.
"""
MOST_LINKS = 15
"""A page with at least this many links is not a wall unless its status refuses the request. Most pages have more, and
counting them is cheap.
"""
LITTLE_TEXT = 2_000
"""A page with fewer columns of text than this may be a wall; the longest walls, of Imperva and Anubis, have 1,400."""
LITTLE_WIDGET_TEXT = 500
"""A page with fewer columns of text than this may be only a captcha."""
_QUOTATIONS = re.compile(
    rb"<script\b[^>]{0,500}\bjson\b[^>]{0,500}>.*?</script|<a\s[^>]{0,2000}>", re.IGNORECASE | re.DOTALL
)
"""Parts of a source that may quote another page: data for scripts, and the targets of links."""
_ANY_STATUS: frozenset[int] = frozenset()
_FORBIDDEN = frozenset((403,))
_REDIRECTS = frozenset((301, 302, 303, 307, 308))


@dataclass(frozen=True)
class HeaderMark:
    """A header that a service sends with its walls."""

    name: str
    """The name in lower case."""
    value: str = ""
    """A regular expression that must match a part of the header's value; empty if any value is a mark."""
    statuses: frozenset[int] = _ANY_STATUS
    """The statuses with which the mark counts; empty if it counts with any."""


@dataclass(frozen=True)
class SourceMark:
    """A part of the source of a service's walls."""

    source: bytes
    statuses: frozenset[int] = _ANY_STATUS
    """The statuses with which the mark counts; empty if it counts with any."""


@dataclass(frozen=True)
class Service:
    """A service that puts walls in front of sites."""

    name: str
    headers: tuple[HeaderMark, ...] = ()
    sources: tuple[SourceMark, ...] = ()


def _sources(*sources: bytes, statuses: frozenset[int] = _ANY_STATUS) -> tuple[SourceMark, ...]:
    return tuple(SourceMark(source, statuses) for source in sources)


def _location(address: str) -> HeaderMark:
    """The mark of a redirect to a challenge, given a regular expression for a part of the challenge's address."""
    return HeaderMark("location", address, _REDIRECTS)


SERVICES = (
    Service(
        "Cloudflare",
        headers=(HeaderMark("cf-mitigated"),),
        sources=(
            *_sources(b"_cf_chl_opt", b"/cdn-cgi/l/chk_jschl", b"/cdn-cgi/l/chk_captcha", b"cf-browser-verification"),
            *_sources(b"/orchestrate/chl_page/", b"/orchestrate/managed/", b"/orchestrate/jsch/"),
            *_sources(b"cf-error-details", statuses=frozenset((403, 429))),
        ),
    ),
    Service(
        "Imperva",
        headers=(_location(r"/_Incapsula_Resource\?"),),
        sources=_sources(
            b"_Incapsula_Resource?SWUDNSAI=",
            b"_Incapsula_Resource?CWUDNSAI=",
            b"_Incapsula_Resource?SWJIYLWA=5074a744",
            b"reeseSkipExpirationCheck",
            b"reeseRetriedAutoload",
            b"distilIdentificationBlock",
        ),
    ),
    Service(
        "DataDome",
        headers=(HeaderMark("x-dd-b"), _location(r"captcha-delivery\.com/captcha")),
        sources=_sources(
            b"captcha-delivery.com/captcha/",
            b"captcha-delivery.com/interstitial/",
            b"ct.captcha-delivery.com/c.js",
            b"ct.captcha-delivery.com/i.js",
        ),
    ),
    Service(
        "Akamai",
        headers=(HeaderMark("server", "^AkamaiGHost", _FORBIDDEN),),
        sources=(
            *_sources(b"sec-if-cpt-container", b"/_sec/cp_challenge/", b"bm-verify=", b"/_sec/verify?provider="),
            *_sources(b"errors.edgesuite.net", b"errors&#46;edgesuite&#46;net", statuses=_FORBIDDEN),
        ),
    ),
    Service(
        "PerimeterX",
        sources=_sources(
            b'id="px-captcha"',
            b"captcha.px-cdn.net/",
            b"captcha.px-cloud.net/",
            b"captcha.perimeterx.net/",
            b"/captcha/captcha.js?a=c",
        ),
    ),
    Service("Anubis", sources=_sources(b"/.within.website/x/cmd/anubis/", b'id="anubis_challenge"')),
    Service("go-away", sources=_sources(b"/go-away/cmd/go-away/")),
    Service("AWS WAF", headers=(HeaderMark("x-amzn-waf-action"),), sources=_sources(b"window.gokuProps")),
    Service(
        "Kasada",
        headers=(HeaderMark("x-kpsdk-ct", statuses=frozenset((403, 429))),),
        sources=_sources(b"/ips.js?", b"KPSDK.start", statuses=frozenset((403, 429))),
    ),
    Service(
        "Sucuri",
        headers=(HeaderMark("x-sucuri-block"),),
        sources=(
            *_sources(b"sucuri_cloudproxy_js"),
            *_sources(b"cloudproxy@sucuri.net", b"cdn.sucuri.net/", statuses=_FORBIDDEN),
        ),
    ),
    Service("DDoS-Guard", sources=_sources(b"/.well-known/ddos-guard/", b"check.ddos-guard.net/")),
    Service(
        "Vercel",
        headers=(HeaderMark("x-vercel-mitigated"), HeaderMark("x-vercel-challenge-token")),
        sources=_sources(b"/.well-known/vercel/security/"),
    ),
    Service("Fastly", sources=_sources(b"/_fs-ch-")),
    Service(
        "F5",
        sources=_sources(
            b'window["bobcmn"]',
            b"<title>Request Rejected</title></head><body>The requested URL was rejected.",
        ),
    ),
    Service("Azure WAF", sources=_sources(b"azwaf_jsclearance")),
    Service(
        "Radware", headers=(_location(r"//validate\.perfdrive\.com/"),), sources=_sources(b"//captcha.perfdrive.com/")
    ),
    Service("Imunify360", sources=_sources(b"wsidchk")),
    Service(
        "SiteGround",
        headers=(HeaderMark("sg-captcha"), _location("/.well-known/sgcaptcha/")),
        sources=_sources(b"/.well-known/sgcaptcha/"),
    ),
    Service("LiteSpeed", sources=_sources(b"/.lsrecap/recaptcha")),
    Service("haproxy-protection", sources=_sources(b"/.basedflare/bot-check")),
    Service(
        "Jiasule",
        headers=(HeaderMark("set-cookie", "__jsluid", frozenset((521,))),),
        sources=_sources(b"__jsl_clearance"),
    ),
    Service("Chuangyu", sources=_sources(b"365cyd.com/", b"365cyd.net/", statuses=frozenset((403, 405, 406)))),
    Service(
        "River Security", sources=_sources(b"$_ts=window['$_ts']", b"$_ts.cd=", statuses=frozenset((202, 400, 412)))
    ),
    Service(
        "Alibaba Cloud WAF",
        sources=(
            *_sources(b"aliyun_waf_aa", b"aliyun_waf_bb", b"acw_sc__v2", b"acw_sc__v3"),
            *_sources(b"errors.aliyun.com/", b"/sd-base/static/", statuses=frozenset((403, 405))),
        ),
    ),
    Service(
        "Alibaba x5sec",
        headers=(HeaderMark("bxpunish"), _location(r"/punish\?x5secdata=")),
        sources=_sources(b"/punish?x5secdata=", b"/_____tmd_____/"),
    ),
    Service(
        "Tencent Cloud WAF",
        headers=(_location(r"//waf\.tencent(-cloud)?\.com/"),),
        sources=_sources(b"//waf.tencent.com/", b"//waf.tencent-cloud.com/"),
    ),
    Service("EdgeOne", sources=_sources(b"__tst_status", b"EO_Bot_Ssid")),
    Service(
        "Baidu",
        headers=(_location(r"//wappass\.baidu\.com/static/captcha/"),),
        sources=_sources(b"//wappass.baidu.com/static/captcha/", b"/static/touch/js/mkdjump"),
    ),
    Service("Safedog", sources=_sources(b"404.safedog.cn/", b"safedogsite/broswer_logo")),
    Service(
        "SafeLine",
        sources=(
            *_sources(b"SafeLineChallenge", b"/.safeline/challenge/", b'id="slg-box"'),
            *_sources(b"/.safeline/", statuses=frozenset((403, 429, 468))),
        ),
    ),
    Service("360", sources=_sources(b"/wzws-waf-cgi/", b"/WZWSREL", b"wangshan.360.cn")),
    Service("Yunsuo", sources=_sources(b"security_verify_data=")),
)
"""The services, in the order in which they are looked for.

PerimeterX is now HUMAN. Jiasule is 加速乐 and Chuangyu 创宇盾, both of 知道创宇. River Security is 瑞数,
Safedog 安全狗, SafeLine 雷池, and Yunsuo 云锁.
"""
WIDGETS = {"g-recaptcha": "reCAPTCHA", "h-captcha": "hCaptcha", "cf-turnstile": "Turnstile"}
"""Captchas by the class of their element. Forms of ordinary pages have them, too: only a page that has nothing else is
a wall.
"""
HEADERS = frozenset(mark.name for service in SERVICES for mark in service.headers)
"""The names of the headers that are marks, in lower case."""
NOT_FILLED_IN = frozenset(("hidden", "submit", "button", "image", "reset"))
"""Types of input elements that people do not fill in."""
WIDGET_ANSWER = "-response"
"""The end of the name of the field into which a captcha writes its answer."""


def wall_service(status: int, headers: Mapping[str, str], page: Page) -> str:
    """The service whose wall a response is; empty if it is not a wall. `headers` are the `HEADERS` in the response."""
    if status == PAYMENT_REQUIRED:
        return ""
    service = _by_headers(status, headers, page.url)
    if service:
        return service
    is_refused = status in REFUSING
    if status in WITHOUT_PAGE or (not is_refused and not _is_short(page)):
        return ""
    return _by_source(status, is_refused, page) or _by_widget(page)


def _by_headers(status: int, headers: Mapping[str, str], url: str) -> str:
    """The service with a mark in the headers of a response; empty if there is none."""
    if not headers:
        return ""
    for service in SERVICES:
        for mark in service.headers:
            # If the challenge itself was requested, the redirect only corrects its address.
            if mark.name == "location" and re.search(mark.value, url):
                continue
            is_sent = mark.name in headers and re.search(mark.value, headers[mark.name]) is not None
            if is_sent and _applies(mark, status):
                return service.name
    return ""


def _by_source(status: int, is_refused: bool, page: Page) -> str:
    """The service with a mark in the source of a page that is a wall; empty if there is none."""
    source = page.body[:MOST_BYTES]
    for service in SERVICES:
        for mark in service.sources:
            if mark.source in source and _applies(mark, status) and (is_refused or _is_mostly_wall(mark, page)):
                return service.name
    return ""


def _by_widget(page: Page) -> str:
    """The captcha that is all that a page has; empty if there is none."""
    for name, service in WIDGETS.items():
        if name.encode() in page.body[:MOST_BYTES] and _is_short(page) and _is_only_widget(page, name):
            return service
    return ""


def _applies(mark: HeaderMark | SourceMark, status: int) -> bool:
    """Whether a mark counts with this status."""
    return not mark.statuses or status in mark.statuses


def _is_short(page: Page) -> bool:
    """Whether a page has a short source with few links."""
    body = page.body
    if len(body) > MOST_BYTES or not is_html(page.content_type, body):
        return False
    return body.count(b"<a ") < MOST_LINKS and body.count(b"<A ") < MOST_LINKS


def _is_mostly_wall(mark: SourceMark, page: Page) -> bool:
    """Whether a page has little text, and does not only quote the mark in its text, data or links."""
    text = page.once(_text)
    if width(text) >= LITTLE_TEXT or mark.source.decode() in text:
        return False
    return mark.source in _QUOTATIONS.sub(b"", page.body[:MOST_BYTES])


def _is_only_widget(page: Page, name: str) -> bool:
    """Whether a page has a captcha of this class, but little text and nothing that people fill in."""
    if width(page.once(_text)) >= LITTLE_WIDGET_TEXT:
        return False
    has_widget = any(name in element.get("class", "").split() for element in page.root.iter("div", "span", "form"))
    fields = page.root.iter("input", "textarea", "select")
    return has_widget and not any(
        field.get("type", "text").lower() not in NOT_FILLED_IN and not field.get("name", "").endswith(WIDGET_ANSWER)
        for field in fields
    )


def _text(page: Page) -> str:
    return "\n".join(block.text for block in page.blocks)
