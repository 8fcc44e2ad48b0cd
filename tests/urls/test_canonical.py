import time
from itertools import product

import pytest

from crawler.settings import IGNORED_PARAMETERS
from crawler.urls.canonical import MOST_PARAMETERS, Canonical
from crawler.urls.parsing import absolute

SITE = "http://example.com"
MD5 = "9682993c8daa2c5497996114facdc805"
ASP = "4hqa0555fwsecu455xqckv45"

canonical = Canonical(IGNORED_PARAMETERS)


def test_canonical() -> None:
    rows = [
        # Where a parameter may stand, and what is left around it.
        ("/?gclid=1", "/"),
        ("/a?gclid=1", "/a"),
        ("/a?gclid", "/a"),
        ("/a?gclid=", "/a"),
        ("/a?gclid=1&gclid=2", "/a"),
        ("/a?gclid=1&b=2", "/a?b=2"),
        ("/a?b=2&gclid=1", "/a?b=2"),
        ("/a?c=3&gclid=1&b=2", "/a?c=3&b=2"),
        ("/a?b=2&gclid=1&b=2", "/a?b=2&b=2"),
        ("/a?gclid=1=2", "/a"),
        ("/a?gclid=http://example.com/?b", "/a"),
        ("/a?GClid=1", "/a"),
        ("/a?", "/a"),
        ("/a?&", "/a"),
        ("/a?b&&c&", "/a?b&c"),
        ("/a?&gclid=1&&b", "/a?b"),
        ("/a;jsessionid=1", "/a"),
        ("/a;jsessionid=1/b", "/a/b"),
        ("/a;jsessionid=1?b=2", "/a?b=2"),
        ("/a;JSESSIONID=ABC.node_3!12!-4?b=2", "/a?b=2"),
        ("/a;jsessionid=1?gclid=1", "/a"),
        ("/a;v=1;jsessionid=1;w=2/b;x", "/a;v=1;w=2/b;x"),
        ("/;jsessionid=1", "/"),
        ("/a/..a;jsessionid=1/b", "/a/..a/b"),
        (f"/(S({ASP}))/b.aspx", "/b.aspx"),
        (f"/a/(S({ASP}))/b.aspx?c=1", "/a/b.aspx?c=1"),
        (f"/(S({ASP}))/", "/"),
        (f"/(s({ASP.upper()}))/b", "/b"),
        (f"/(S({ASP}))/(S({ASP}))/b", "/b"),
        (f"/(X(1)S({ASP}))/b?AspxAutoDetectCookieSupport=1", "/b"),
        (f"/(X(1)A(Az_9-)S({ASP})F(x))/b", "/b"),
        (f"/(S({ASP}));jsessionid=1/b", "/b"),
        # What only looks like one.
        ("/gclid=1", "/gclid=1"),
        ("/gclid/a?b", "/gclid/a?b"),
        ("/a?xgclid=1", "/a?xgclid=1"),
        ("/a?gclidx=1", "/a?gclidx=1"),
        ("/a?b=gclid", "/a?b=gclid"),
        ("/a?b=1?gclid=1", "/a?b=1?gclid=1"),
        ("/a?=gclid", "/a?=gclid"),
        ("/a?=", "/a?="),
        ("/a?gclid%3D1", "/a?gclid%3D1"),
        ("/a?gclid=1;b=2", "/a?gclid=1;b=2"),
        ("/a?b=2;gclid=1", "/a?b=2;gclid=1"),
        ("/a?b=2;jsessionid=1", "/a?b=2;jsessionid=1"),
        ("/a;jsessionid=1&b=2", "/a;jsessionid=1&b=2"),
        ("/a,jsessionid=1", "/a,jsessionid=1"),
        ("/a;b;;c;", "/a;b;;c;"),
        ("/..;jsessionid=1/b", "/..;jsessionid=1/b"),
        ("/.;jsessionid=1/b", "/.;jsessionid=1/b"),
        (f"/(S({ASP[1:]}))/b", f"/(S({ASP[1:]}))/b"),
        (f"/(S({ASP}a))/b", f"/(S({ASP}a))/b"),
        (f"/(S({ASP[1:]}6))/b", f"/(S({ASP[1:]}6))/b"),
        (f"/(S({ASP}))", f"/(S({ASP}))"),
        (f"/S({ASP})/b", f"/S({ASP})/b"),
        (f"/(F({ASP}))/b", f"/(F({ASP}))/b"),
        (f"/a(S({ASP}))/b", f"/a(S({ASP}))/b"),
        (f"/a?b=/(S({ASP}))/c", f"/a?b=/(S({ASP}))/c"),
        ("/(2019)/b", "/(2019)/b"),
        ("/wiki/Bee_(insect)", "/wiki/Bee_(insect)"),
        ("/a//b", "/a//b"),
        ("/", "/"),
    ]
    for address, expected in rows:
        assert canonical(SITE + address) == SITE + expected


NOTHING_OF_THE_PAGE = [
    "utm_source=feed",
    "UTM_Medium=rss",
    "utm_psn=1",
    "depth_1-utm_source=distribute.pc_relevant",
    "_ga=2.1.3.4-5",
    "_ga_QR4NVXZ8BM=GS1.1",
    "_gl=1*kufgl6*_ga*MTk2",
    "mtm_campaign=x",
    "pk_campaign=x",
    "at_medium=RSS",
    "at_link_origin=BBCNews",
    "ns_mchannel=social",
    "xtor=RSS-3208",
    "wt_mc=x",
    "wt_zmc=x",
    "WT.mc_id=x",
    "hmsr=toutiao.io",
    "gclid=x",
    "gclsrc=aw.ds",
    "dclid=x",
    "gbraid=x",
    "wbraid=x",
    "gad_source=1",
    "gad_campaignid=1",
    "srsltid=x",
    "msclkid=x",
    "twclid=x",
    "ttclid=x",
    "li_fat_id=x",
    "yclid=1",
    "ysclid=x",
    "ymclid=1",
    "_openstat=x",
    "s_kwcid=AL!1!3!x",
    "hsa_acc=1",
    "bd_vid=11551919562866456852",
    "qz_gdt=gjlj2v6oaaal5f7szfka",
    "gdt_vid=wx0",
    "qhclickid=e0590e7b5d33de86",
    "ali_trackid=2:mm_1",
    "mc_cid=1",
    "mc_eid=1",
    "mkt_tok=x",
    "_hsenc=x",
    "_hsmi=1",
    "__hstc=1.2.3",
    "hsCtaTracking=x",
    "vero_id=x",
    "oly_enc_id=x",
    "_kx=x",
    "_branch_match_id=1",
    "fbclid=x",
    "fb_action_ids=1",
    "fb_ref=x",
    "mibextid=x",
    "igsh=x",
    "igshid=x",
    "ref_src=twsrc%5Etfw",
    "__twitter_impression=true",
    "guccounter=1",
    "guce_referrer=x",
    "guce_referrer_sig=x",
    "from=singlemessage",
    "from=groupmessage",
    "from=timeline",
    "isappinstalled=0",
    "nsukey=x",
    "qq-pf-to=pcqq.group",
    "wxshare_count=1",
    "vd_source=dcea3feb81b702defb6006f671564224",
    "share_source=copy_web",
    "share_medium=iphone",
    "spm=a2c4g.11186623.0.0.128b4b7896DD4W",
    "spm=smpc.author.fd-d.1",
    "spm=1001.2014.3001.5503",
    "scm=1007.12846.65991.-1",
    "scm=20140722.S_help@@._.V_1",
    "spm_id_from=333.1007.top_right",
    "from_spmid=united",
    "ops_request_misc=%257B",
    "_trans_=000115_3w",
    "ADTAG=IED.GAMEGW",
    "pgv_ref=aio2015",
    "fromModule=lemma_inlink",
    "fr=aladdin",
    "wfr=spider",
    "_zbs_baidu_news",
    "jsessionid=54vm39oc3w65h",
    "PHPSESSID=37dh7b4vkprsui40hmg3hf4716",
    "ASPSESSIONIDAQBSDSRT=EOHBLBDDPFCLHKPGGKLILNAM",
    "ASP.NET_SessionId=x",
    "AspxAutoDetectCookieSupport=1",
    f"(S({ASP}))",
    "CFTOKEN=87004be8e618e3de-F562DE82-E427-6D92-CD372C05D16F0F17",
    "CFID=2218264",
    "osCsid=j90j5kqfegquksdbumahtmuqg5",
    "zenid=jd1grt45k7cogivb9hnm75ibk5",
    "XTCsid=x",
    "sesskey=Ab3dE5gH1j",
    f"s={MD5}",
    f"sid={MD5.upper()}",
    f"sess={MD5}",
    f"sessid={MD5}",
    f"session={MD5}",
    f"sessionid={MD5}",
    f"session_id={MD5}",
    "sid=37dh7b4vkprsui40hmg3hf4716",
    f"sid={ASP}",
    f"sid={MD5}{MD5}",
]


def test_these_tell_nothing_of_a_page() -> None:
    for parameter in NOTHING_OF_THE_PAGE:
        assert canonical(f"{SITE}/a?{parameter}") == f"{SITE}/a"
        assert canonical(f"{SITE}/a?b=1&{parameter}&c=2") == f"{SITE}/a?b=1&c=2"
        assert canonical(f"{SITE}/a;{parameter}?b=1") == f"{SITE}/a?b=1"


def test_every_expression_has_an_example() -> None:
    for expression in IGNORED_PARAMETERS:
        alone = Canonical([expression])
        assert any(alone(f"{SITE}/a?{parameter}") == f"{SITE}/a" for parameter in NOTHING_OF_THE_PAGE)


def test_these_may_tell_pages_apart() -> None:
    rows = [
        "id=5",
        f"id={MD5}",
        f"tid={MD5}",
        f"xs={MD5}",
        f"s{MD5}",
        "s",
        "s=",
        "s=bees",
        "s=donaudampfschifffahrtsgesellschaft",
        "s=/News/index/id/20240101000000000012",
        f"s={MD5}-a",
        f"s={MD5}%20a",
        "sid=42",
        "sid=43",
        "sid=202401010000000000000000000012",
        f"sid={ASP[1:]}",
        "sid=507f1f77bcf86cd799439011",  # a key of MongoDB
        "sid=0b1f6ed4f8e84f2b9a3c5d7e9f1a2b3c",  # a UUID
        "session=12",
        "sessionid=1234",
        "sessions=1",
        "cfid=5",
        "cfid=123456",
        "cfid=1234567890",
        "from=2",
        "from=singlemessages",
        "ref=nav",
        "ref_src=home",
        "source=rss",
        "utm=33",
        "cid=7",
        "page=2",
        "scm=git",
        "scm=2.4",
        "spm=3",
        "spm=3.1",
        "fr=1",
        "wfr=1",
        "fromid=1",
        "share_token=b744b824",
        "wt=json",
        "ga=1",
        "pk_id=42",
        "mc_xid=1",
        "at_id=1",
        "hmid=1",
        "utm%5Fsource=x",
    ]
    for parameter in rows:
        for url in (f"{SITE}/a?{parameter}", f"{SITE}/a?b=1&{parameter}&c=2"):
            assert canonical(url) == url


def test_the_rule_is_what_is_given() -> None:
    rows = [
        ([], "/a;jsessionid=1?gclid=1&=2", "/a;jsessionid=1?gclid=1&=2"),
        ([], f"/(S({ASP}))/a", f"/(S({ASP}))/a"),
        (["b"], "/?b=1&B=2&bb=3&c=b", "/?bb=3&c=b"),
        (["B|c"], "/?b=1&c=2&bc=3", "/?bc=3"),
        (["(b|c)d"], "/?bd=1&cd=2&b=3&d=4", "/?b=3&d=4"),
        (["b.*"], "/?b=1&bc=2&a=b", "/?a=b"),
        (["b.*c"], "/?b=c&bc=1", "/?b=c"),
        (["b=1"], "/?b=1&b=12&b=&b&B=1", "/?b=12&b=&b"),
        (["b="], "/?b=1&b=&b", "/?b=1&b"),
        (["=1"], "/?=1&=2", "/?=2"),
        (["b", "c=1"], "/?b=1&c=1&c=2", "/?c=2"),
        (["b", "c", "d=1", "d=2"], "/?a&b&c&d=1&d=2&d=3", "/?a&d=3"),
        ([".*"], "/a;b=1?c=2&=3", "/a"),
        ([r"\(x\)"], "/(x)/(y)/(x)", "/(y)/(x)"),
    ]
    for ignored, address, expected in rows:
        assert Canonical(iter(ignored))(SITE + address) == SITE + expected


def test_what_is_no_expression_is_refused_in_one_sentence() -> None:
    rows = [
        "(",
        "[a",
        "*",
        "sid=(",
        "a)(b",
        "a)|(?:b",
        "a\\",
        "a{99999999999999999999}",
        "(?i)a",
        r"(a)\1",
        "(?P<a>b)",
        "(?P<a>b)(?P=a)",
        "(a)?(?(1)b|c)",
    ]
    for expression in rows:
        with pytest.raises(ValueError, match=r"^[^\n]+\.$") as error:
            Canonical(["utm_.*", expression, "gclid"])
        assert repr(expression) in str(error.value)
        assert type(error.value) is ValueError


PARAMETERS = ["gclid=1", "b=2", "", "=", "jsessionid=1", f"sid={MD5}", "gclid=1;b=2", "v&gclid=1", "(S(a))", "%3F", "?"]
SEGMENTS = ["..;gclid", ".;b;gclid", ";gclid", "...;gclid", f"(S({ASP}))", f"(S({ASP}));gclid", "(S;gclid)", "()", ";"]
ODD = [
    *map("".join, product(["/a?", "/a;"], PARAMETERS, ["&", ";", "/", "?"], PARAMETERS, ["", "&", ";", "/", "/b"])),
    *map("/".join, product([""], SEGMENTS, SEGMENTS, ["b?gclid", "?b;gclid", "?&", "(b)"])),
]


def test_what_is_canonical_stays_as_it_is() -> None:
    urls = [url for address in ODD if (url := absolute(SITE, address))]
    assert len(urls) == len(ODD)
    for url in urls:
        once = canonical(url)
        assert canonical(once) == once, url
        assert absolute("", once) == once, url


@pytest.mark.parametrize(
    ("before", "repeated", "after"),
    [
        ("?", "&", ""),
        ("?", "=", ""),
        ("?", "a&", ""),
        ("?", "gclid&", ""),
        ("?", ";", ""),
        ("?utm_", "a", ""),
        ("?depth_1-", "utm", ""),
        ("?spm=", "a.", "/"),
        ("?spm=", "-", ""),
        ("?scm=", "1", ""),
        ("?s=", "a", ""),
        ("?s=", "a1", "-"),
        ("?", f"s={ASP}&", ""),
        ("?aspsessionid", "a", "1"),
        ("/", ";", ""),
        ("/", ";a", ""),
        ("/", "..;gclid", ""),
        ("", "/(", ""),
        ("", "/()", "/"),
        ("/(", "A(a)", ")/"),
        ("/(", "A(a", ")/"),
        ("/(", ")", "/"),
        ("/(", "S(", ")/"),
    ],
)
def test_a_long_address_takes_no_more_time_than_it_has_letters(before: str, repeated: str, after: str) -> None:
    def seconds(length: int) -> float:
        url = SITE + before + repeated * (length // len(repeated)) + after
        start = time.process_time()
        canonical(url)
        return time.process_time() - start

    # The best of several runs, so that what else the machine does counts little; 64 times the time would be a square.
    assert min(seconds(32_768) for _ in range(7)) < 24 * min(seconds(4_096) for _ in range(7)) + 0.0005


def test_an_address_without_parameters_is_the_same_object() -> None:
    url = SITE + "/a/b.html"
    assert canonical(url) is url


def test_an_address_of_very_many_parameters_stays_as_it_is() -> None:
    for parameter in ["/;gclid", "&gclid", "/(S(4hqa0555fwsecu455xqckv45))"]:
        for more in [0, 1]:
            url = f"{SITE}/{'?' * parameter.startswith('&')}{parameter * (MOST_PARAMETERS + more)}/"
            assert (canonical(url) == url) is bool(more)
