"""Posts and pages whose Markdown is known: made of seeded random sentences, or the manuals that npm packages carry."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from random import Random

from strangers_sites.words_of_sources import CODE, FORMULAS, VOCABULARIES, Subject, Vocabulary

SEED = "20261128"
FIRST_DAY = date(2019, 1, 7)
DAYS_BETWEEN_POSTS = 61  # 40 posts end in 2025
AUTHORS = ("Mira Tanaka", "Jonas Weidenfeld", "林晓雨")
LANGUAGES = ("en", "zh")
MORE = "<!-- more -->"
"""Ends the excerpt of a post in lists."""
IMAGES = 6
"""How many photographs the sites have."""
SHORT_POST_EVERY = 8
"""Every eighth post has no section."""
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$|<h1[^>]*>([^<\n]+)</h1>", re.MULTILINE)
FENCED_BLOCK = re.compile(r"^ *(`{3,}|~{3,}).*?^ *\1", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Document:
    """A post or page as its author wrote it."""

    slug: str
    """The end of its address, without an ending such as .html."""
    title: str
    markdown: str
    """Its text below the title."""
    language: str
    author: str = ""
    published: str = ""
    """A day, ISO 8601."""
    tags: Sequence[str] = ()
    category: str = ""
    text: str = ""
    """Its plain text, for pages whose Markdown is not known."""

    @property
    def with_title(self) -> str:
        """The text with the title as its first heading."""
        return f"# {self.title}\n\n{self.markdown}"


class Author:
    """Writes about one subject in one language."""

    def __init__(self, random: Random, vocabulary: Vocabulary, subject: Subject) -> None:
        self.random = random
        self.vocabulary = vocabulary
        self.subject = subject

    def fill(self, template: str) -> str:
        """The template with a word in each of its braces."""
        thing, other_thing = self.random.sample(self.subject.things, 2)
        words = {name: self.random.choice(choices) for name, choices in self.vocabulary.words.items()}
        capitalized = {name.capitalize(): word[0].upper() + word[1:] for name, word in words.items()}
        return template.format(
            **words,
            **capitalized,
            thing=thing,
            thing2=other_thing,
            number=self.random.randint(12, 480),
            number2=self.random.randint(3, 96),
        )

    def phrase(self, templates: Sequence[str]) -> str:
        phrase = self.fill(self.random.choice(templates))
        return phrase[0].upper() + phrase[1:]

    def paragraph(self, least: int = 3, most: int = 6) -> str:
        templates = self.random.sample(self.vocabulary.sentences, self.random.randint(least, most))
        return self.vocabulary.between_sentences.join(map(self.fill, templates))

    def paragraphs(self) -> str:
        return "\n\n".join(self.paragraph() for _ in range(self.random.randint(1, 3)))

    def code(self) -> str:
        language = self.random.choice(list(CODE))
        return f"{self.paragraph()}\n\n```{language}\n{self.fill(CODE[language])}\n```\n\n{self.paragraph()}"

    def table(self) -> str:
        things = self.random.sample(self.subject.things, 4)
        places = self.vocabulary.words["place"]
        rows = [f"| {thing} | {self.random.randint(2, 900)} | {self.random.choice(places)} |" for thing in things]
        names = {"en": "| Part | Grams | Place |", "zh": "| 部件 | 克 | 地点 |"}
        head = names["zh" if self.vocabulary is VOCABULARIES["zh"] else "en"]
        return "\n".join((f"{self.paragraph()}\n", head, "| --- | --- | --- |", *rows))

    def nested_list(self) -> str:
        lines = [f"{self.paragraph()}\n"]
        for _ in range(3):
            lines.append(f"- {self.paragraph(1, 1)}")
            lines += [f"    - {self.paragraph(1, 1)}" for _ in range(self.random.randint(0, 2))]
        return "\n".join(lines)

    def quote(self) -> str:
        return f"{self.paragraph()}\n\n> {self.paragraph(2, 3)}\n\n{self.paragraph()}"

    def formula(self) -> str:
        return f"{self.paragraph()}\n\n$${self.fill(self.random.choice(FORMULAS))}$$\n\n{self.paragraph()}"

    def image(self) -> str:
        thing = self.random.choice(self.subject.things)
        return f"{self.paragraph()}\n\n![{thing}](/images/photo-{self.random.randint(1, IMAGES)}.png)"

    def section(self, write: "Callable[[Author], str]") -> str:
        """A heading and the blocks below it."""
        return f"## {self.phrase(self.vocabulary.headings)}\n\n{write(self)}"


SECTIONS = (
    Author.code,
    Author.table,
    Author.nested_list,
    Author.quote,
    Author.paragraphs,
    Author.formula,
    Author.image,
)


def posts(count: int = 40, languages: Sequence[str] = LANGUAGES, author: str = "", seed: str = SEED) -> list[Document]:
    """Posts in turn in these languages, by one author or by several, the oldest first."""
    return [_post(number, languages[number % len(languages)], author, seed) for number in range(count)]


def _post(number: int, language: str, author: str, seed: str) -> Document:
    random = Random(f"{seed} {number} {language}")
    vocabulary = VOCABULARIES[language]
    subject = vocabulary.subjects[number // 2 % len(vocabulary.subjects)]
    writer = Author(random, vocabulary, subject)
    title = writer.phrase(vocabulary.titles)
    blocks = [writer.paragraph(), MORE, writer.paragraph()]
    if number % SHORT_POST_EVERY != SHORT_POST_EVERY - 1:
        writers = random.sample(SECTIONS, random.randint(3, 5))
        blocks += [writer.section(write) for write in writers]
    return Document(
        slug=f"{language}-letter-{number:02}",
        title=title,
        markdown="\n\n".join(blocks),
        language=language,
        author=author or AUTHORS[number % len(AUTHORS)],
        published=str(FIRST_DAY + timedelta(days=DAYS_BETWEEN_POSTS * number)),
        tags=tuple(random.sample(subject.things, 2)),
        category=subject.name,
    )


def front_matter(document: Document, **others: str) -> str:
    """The post as the file that Hexo, Jekyll and their like read."""
    lines = [
        "---",
        f'title: "{document.title}"',
        f"date: {document.published} 10:00:00",
        f"author: {document.author}",
        f"lang: {document.language}",
        f"tags: [{', '.join(document.tags)}]",
        f"categories: [{document.category}]",
        *(f"{name}: {value}" for name, value in others.items()),
        "---",
        "",
        document.markdown,
    ]
    return "\n".join(lines) + "\n"


def manual_pages(count: int = 24, languages: Sequence[str] = ("en",), seed: str = SEED) -> list[Document]:
    """Pages of a manual, without authors and dates."""
    pages = posts(count, languages, seed=seed)
    return [
        Document(
            slug=f"chapter-{number:02}",
            title=page.title,
            markdown=page.markdown.replace(f"{MORE}\n\n", ""),
            language=page.language,
        )
        for number, page in enumerate(pages)
    ]


def markdown_files(folder: Path) -> Iterator[tuple[str, str]]:
    """The path and the content of each Markdown file of a manual."""
    for file in sorted(folder.rglob("*.md")):
        yield file.relative_to(folder).as_posix(), file.read_text(encoding="utf-8")


def documents_of(folder: Path, name: str, language: str = "en") -> list[Document]:
    """The pages of a manual in Markdown, except indexes, which may become lists.

    The title is the first heading that is not the manual's name.
    """
    documents = []
    for path, content in markdown_files(folder):
        slug = path.removesuffix(".md")
        headings = [own or html for own, html in HEADING.findall(FENCED_BLOCK.sub("", content))]
        heading = next((heading for heading in headings if heading != name), None)
        if heading is None or slug.rpartition("/")[2].lower() in ("index", "readme", "_sidebar"):
            continue
        title = heading.replace("`", "").replace("\\", "")
        documents.append(Document(slug=slug, title=title, markdown=content, language=language))
    return documents
