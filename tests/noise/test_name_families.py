from crawler.noise.page_features import FAMILIES, families


def test_families() -> None:
    rows = [
        ("", {}),
        ("nothing known", {}),
        ("ad", {"advert": 1}),
        ("add bad adx", {}),
        ("adBanner", {"advert": 2}),
        ("AdBANNER", {"advert": 2}),
        ("ad_banner-728", {"advert": 2}),
        ("top-nav", {"frame": 2}),
        ("Author", {"person": 1}),
        ("icon2", {"symbol": 1}),
        ("related-posts", {"other": 1}),
        ("post-body", {"main": 2}),
        ("guanggao", {"advert": 1}),
        ("ad sponsor", {"advert": 2}),
        ("ad sponsor promo", {"advert": 3}),
        ("ad sponsor promo banner", {"advert": 3}),
        ("广告 ad", {"advert": 1}),
        ("\udcff-ad-\udcff", {"advert": 1}),
    ]
    for name, expected in rows:
        assert families(name) == tuple(expected.get(family, 0) for family in FAMILIES)


def test_no_word_is_of_two_families() -> None:
    named = [word for words in FAMILIES.values() for word in words.split()]
    assert len(set(named)) == len(named)
    assert all(word.isascii() and word.islower() for word in named)
