"""Applications that make their pages in the browser: docsify."""

from collections.abc import Sequence
from pathlib import Path
from shutil import copytree

from strangers_sites.site import Programs, Site, Workshop
from strangers_sites.sources import Document, documents_of

DOCSIFY = Programs(name="docsify", npm=("docsify", "fastify", "pino", "undici"))
DOCSIFY_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="UTF-8">
  <title>Fastify manual</title>
  <meta name="viewport" content="width=device-width, initial-scale=1.0">
  <link rel="stylesheet" href="/docsify/themes/{theme}">
</head>
<body>
  <div id="app">Please wait...</div>
  <script>
    window.$docsify = {{
      name: "Fastify manual",
      routerMode: "{mode}",
      relativePath: true,
      loadSidebar: true,
      alias: {{ "/.*/_sidebar.md": "/_sidebar.md" }},
      subMaxLevel: 2,
    }};
  </script>
  <script src="/docsify/docsify.min.js"></script>
</body>
</html>
"""


def fastify_manual(workshop: Workshop) -> Path:
    return workshop.node_modules / "fastify/docs"


def fastify_documents(workshop: Workshop) -> Sequence[Document]:
    return documents_of(fastify_manual(workshop))


def docsify(mode: str, address: str) -> Site:
    """Fastify's manual under docsify, whose routes are paths (`history`) or fragments (`hash`)."""

    def build(workshop: Workshop) -> None:
        copytree(fastify_manual(workshop), workshop.folder / "site")
        lines = [f"- [{document.title}](/{document.slug}.md)" for document in workshop.documents]
        workshop.write("site/_sidebar.md", "\n".join(lines) + "\n")
        workshop.write("site/README.md", (workshop.folder / "site/index.md").read_text(encoding="utf-8"))
        package = workshop.node_modules / "docsify"
        copytree(package / "dist", workshop.folder / "site/docsify")
        theme = sorted(path.name for path in (package / "dist/themes").glob("*.min.css"))[0]
        workshop.write("site/index.html", DOCSIFY_PAGE.format(mode=mode, theme=theme))
        workshop.write("site/.nojekyll", "")

    return Site(
        name=f"docsify-{mode}",
        kind="application",
        address=address,
        programs=DOCSIFY,
        build=build,
        documents=fastify_documents,
        output="site",
        fallback="index.html" if mode == "history" else "",
    )


APPLICATIONS = (docsify("history", "127.0.43.1"), docsify("hash", "127.0.43.2"))
