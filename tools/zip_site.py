"""Write the built site into one zip file, which is read from disk: unpack it and open index.html.

``python tools/zip_site.py docs/_build/html docs/_build`` writes ``mlstream-docs-VERSION.zip``. Equal pages make equal
bytes: files are sorted, and have one time and one permission.
"""

import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from mlstream import __version__

FILE_PERMISSIONS = 0o100644 << 16


def zip_site(site: Path, folder: Path, version: str) -> Path:
    """Write the files of a site, but not what Sphinx keeps for its next build, and return the path of the zip file."""
    name = f"mlstream-docs-{version}"
    target, partial = folder / f"{name}.zip", folder / f"{name}.zip.partial"
    with ZipFile(partial, "w") as archive:
        for path in sorted(path for path in site.rglob("*") if path.is_file()):
            place = path.relative_to(site)
            if not place.parts[0].startswith("."):
                info = ZipInfo(f"{name}/{place.as_posix()}")
                info.compress_type, info.external_attr = ZIP_DEFLATED, FILE_PERMISSIONS
                archive.writestr(info, path.read_bytes())
    return partial.replace(target)


if __name__ == "__main__":
    written = zip_site(Path(sys.argv[1]), Path(sys.argv[2]), __version__)
    sys.stdout.write(f"{written}: {written.stat().st_size / 2**20:.1f} MiB\n")
