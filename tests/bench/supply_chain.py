"""The dependencies of a release: the packages that it needs at run time, their licences and known vulnerabilities.

`python tests/bench/supply_chain.py FILE` installs this checkout with all extras for users into a fresh environment,
writes a list of its packages with their licences into FILE, as CycloneDX JSON, and looks for known vulnerabilities with
pip-audit. It prints a message if their database cannot be reached. The exit status is 1 if a package has one.
"""

import argparse
import json
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path
from tempfile import TemporaryDirectory

from release import ROOT, FailureError, install, run

NOT_FOR_USERS = {"dev", "docs", "peers"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="where the list is written")
    file = parser.parse_args().file.absolute()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = ",".join(sorted(project["optional-dependencies"].keys() - NOT_FOR_USERS))
    with TemporaryDirectory() as name:
        place = Path(name)
        tools = install(sys.executable, ["cyclonedx-bom", "pip-audit"], place / "tools")
        python = install(sys.executable, [f"{ROOT}[{extras}]"], place / "release") / "python"
        run([python, "-m", "pip", "uninstall", "--quiet", "--yes", "setuptools", "pip"], place)
        listed = ["environment", "--output-reproducible", "--pyproject", ROOT / "pyproject.toml", "-o", file, python]
        run([tools / "cyclonedx-py", *listed], place)
        (site,) = (place / "release").glob("lib/python*/site-packages")
        add_licences(file, site)
        holes = known_holes(tools, site)
    sys.exit(holes)


def add_licences(file: Path, site: Path) -> None:
    """Add the licences that packages name in their own words, which are missing in the list."""
    listed = json.loads(file.read_text("utf-8"))
    for component in listed["components"]:
        if not component.get("licenses"):
            (package,) = distributions(name=component["name"], path=[str(site)])
            component["licenses"] = [{"license": {"name": package.metadata["License"] or "unknown"}}]
            print(f"{component['name']} has the licence: {package.metadata['License']}")
    file.write_text(json.dumps(listed, indent=2) + "\n", "utf-8")
    print(f"{file.name}: {len(listed['components'])} packages")


def known_holes(tools: Path, site: Path) -> bool:
    """Whether a package in a folder has a known vulnerability; prints each, and how many packages pip-audit skips."""
    audit_file = site.parent / "audit.json"
    try:
        run([tools / "pip-audit", "--path", site, "--progress-spinner", "off", "-f", "json", "-o", audit_file], site)
    except FailureError as error:  # it ends with status 1 for a hole as for a database that it cannot reach
        if not audit_file.exists():
            print(f"Known holes were not looked for: {str(error).strip().splitlines()[-1]}")
            return False
    audited = json.loads(audit_file.read_text("utf-8"))["dependencies"]
    holes = [
        f"{package['name']} {package['version']}: {hole['id']}"
        for package in audited
        for hole in package.get("vulns", ())
    ]
    skipped = [f"{entry['name']}: {entry['skip_reason']}" for entry in audited if "skip_reason" in entry]
    print(*holes, f"Known holes: {len(holes)} in {len(audited) - len(skipped)} packages", sep="\n")
    if skipped:
        print(f"Not looked for in {len(skipped)} packages, such as {skipped[0]}")
    return bool(holes)


if __name__ == "__main__":
    main()
