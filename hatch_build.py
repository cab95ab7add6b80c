"""The README as an index shows it: links to files of the repository lead to where it is."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Readme(MetadataHookInterface):
    """Makes the README of a release from README.md."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": with_addresses(text, metadata["urls"]["Source"], metadata["version"]),
        }


def with_addresses(text: str, source: str, version: str) -> str:
    """Markdown whose links to files have their addresses at a version, those of pictures the addresses of pictures."""

    def address(link: re.Match[str]) -> str:
        kind = "raw" if link["picture"] else "blob"
        return f"{link['picture']}[{link['said']}]({source}/{kind}/v{version}/{link['file']})"

    return re.sub(r"(?P<picture>!?)\[(?P<said>[^]]*)\]\((?P<file>[\w./#-]+)\)", address, text)
