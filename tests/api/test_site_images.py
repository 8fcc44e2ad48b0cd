"""Images that are judged by several pages of their site."""

from crawler import judge_images

TEXT = "<p>Bees dance in the dark of the hive to tell the others the way to the flowers."


def page(site: str, number: int) -> tuple[str, str]:
    """A page with an image that all pages have, and one of its own."""
    images = (f"<p><img src=/{name}.jpg alt='A hive' width=300 height=200>" for name in ("garden", f"hive-{number}"))
    return f"https://{site}/{number}", TEXT + TEXT.join(images)


def test_an_image_that_many_pages_of_a_site_show_is_noise() -> None:
    verdicts = judge_images([page("a.example", number) for number in range(4)] + [page("b.example", 0)])
    noise = {verdict.url for verdict in verdicts if verdict.is_noise}
    assert noise == {"https://a.example/garden.jpg"}
    assert len(verdicts) == 10
