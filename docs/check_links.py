"""Whether every link between pages of the built site leads to a file, and to a place in it.

python docs/check_links.py build/docs
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Links, pictures and anchors of one page."""

    def __init__(self, text: str):
        super().__init__()
        self.links: set[str] = set()
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Called by the parser."""
        for name, value in attrs:
            if value and (tag, name) in {("a", "href"), ("img", "src"), ("link", "href")}:
                self.links.add(value)
            elif value and name in {"id", "name"}:
                self.places.add(value)


def broken_links(site: Path) -> list[str]:
    """What leads nowhere: `page -> link`."""
    files = sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in files}
    found = []
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue  # not ours
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            known = pages.get(target)
            if not target.exists() or (place and known and place not in known.places):
                found.append(f"{path.relative_to(site.resolve())} -> {link}")
    return found


if __name__ == "__main__":
    broken = broken_links(Path(sys.argv[1]))
    print("\n".join(broken) or "all links between pages resolve")
    sys.exit(bool(broken))
