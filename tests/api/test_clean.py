"""`from crawler import clean, judge_images`, in a process that imports nothing else."""

import subprocess
import sys

import pytest

import crawler
from crawler import clean

HTML = """<html lang=en><head><title>Bees - Nature</title><meta name=author content="Ada Byron">
<meta property="article:published_time" content="2024-05-01"></head><body><nav><a href=/>Home</a></nav>
<article><h1>Bees</h1><p>Bees live in the hollows of old trees, and in the hives that people build for them.</p>
<img src=/bee.jpg alt="A bee" width=640 height=480>
<p>Bees dance in the dark of the hive, and <a href=/others>others</a> follow them to the flowers.</p>
</article></body></html>"""


def test_a_document_has_all_its_parts() -> None:
    document = clean(HTML, "https://example.org/bees")
    text = "Bees dance in the dark of the hive, and others follow them to the flowers."
    assert document.text.splitlines()[-1] == text
    assert "![A bee](https://example.org/bee.jpg)" in document.markdown
    assert (document.title, document.author, document.published) == ("Bees", "Ada Byron", "2024-05-01")
    assert (document.language, document.comments, document.url) == ("en", "", "https://example.org/bees")
    (image,) = document.images
    assert 0 < image.pop("noise") < 0.5
    assert image == {"url": "https://example.org/bee.jpg", "alt": "A bee"}
    assert {"url": "https://example.org/others", "text": "others"} in document.links
    assert 0 < (document.certainty or 0) <= 1
    assert document.fields()["text"] == document.text
    assert document.quality["certainty"] == document.certainty
    assert (document.quality["words"], document.quality["kept_frac"]) == (33, 0.9758)


def test_rights_are_those_that_the_page_alone_shows() -> None:
    licence = (
        '<link rel="license" href="https://creativecommons.org/licenses/by/4.0/"><meta name="robots" content="noai">'
    )
    found = clean(HTML.replace("<meta", f"{licence}<meta", 1)).rights
    assert (found["licence"], found["uses"]["ai-train"]) == ("CC-BY-4.0", "disallowed")
    assert clean(HTML).rights["evidence"] == []


def test_links_stay_in_markdown_if_asked() -> None:
    assert "[others](https://example.org/others)" in clean(HTML, "https://example.org/", link_addresses=True).markdown


def test_bytes_are_decoded_as_declared() -> None:
    page = "<p>蜜蜂在黑暗的蜂巢里跳舞，其他蜜蜂跟着它们飞向花丛。</p>"
    assert clean(page.encode("gb18030"), content_type="text/html; charset=gbk").text == page[3:-4]


@pytest.mark.parametrize(
    ("data", "content_type", "title", "text"),
    [
        ("# Of bees\n\nThey *dance*.", "text/markdown", "Of bees", "Of bees\nThey dance."),
        ("From: Ann <a@bees.example>\nSubject: Bees\n\nThey dance.", "text/plain", "Bees", "Bees\nThey dance."),
        ("x[1] = {2};", "text/plain", "", ""),
    ],
)
def test_text_files_are_read_by_their_type(data: str, content_type: str, title: str, text: str) -> None:
    document = clean(data.encode(), content_type=content_type)
    assert (document.title, document.text) == (title, text)


def test_no_page_raises() -> None:
    for html in ["", b"", b"\x00\xff", "<" * 1000, "<p>\ud800</p>"]:
        assert set(clean(html, "no address").fields()) == set(clean(HTML).fields())


def test_an_unknown_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError):
        crawler.clear  # noqa: B018


def test_one_line_of_python_needs_no_project(tmp_path: object) -> None:
    line = "from crawler import clean; print(clean('<p>Bees dance.</p>').text)"
    done = subprocess.run([sys.executable, "-c", line], cwd=str(tmp_path), capture_output=True, text=True, check=True)
    assert done.stdout == "Bees dance.\n"


def test_the_text_alone_imports_neither_the_readers_of_fields_nor_the_judges_of_images() -> None:
    line = "from crawler import clean; clean('<p>Bees dance.</p>').text; import sys; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True).stdout.split()
    assert "crawler.extraction.auto.model" in modules
    unused = ("crawler.metadata.record_readers", "crawler.rights", "crawler.noise")
    assert not [module for module in modules if module.startswith(unused)]
