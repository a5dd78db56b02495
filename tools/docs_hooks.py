# SPDX-License-Identifier: MIT
"""What the site (mkdocs.yml) holds beside docs/: pages made at build time, and documents from the root folder."""

import re
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "python")]

import make_man  # noqa: E402 # found by the line above

FROM_ROOT = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}


def move_links(text: str) -> str:
    """Turn links that hold in the repository's folders into links of the site, where all pages lie side by side."""
    names = "|".join(re.escape(name) for name in FROM_ROOT)
    text = re.sub(rf"\]\((?:\.\./)?({names})", lambda found: f"]({FROM_ROOT[found[1]]}", text)
    return text.replace("](docs/", "](")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what docs/ does not hold."""
    for name, page in FROM_ROOT.items():
        files.append(File.generated(config, page, content=move_links((ROOT / name).read_text("utf-8"))))
    files.append(File.generated(config, "commands.md", content=make_man.make_markdown()))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Let links between the folders of the repository hold in the site, too."""
    return move_links(markdown)
