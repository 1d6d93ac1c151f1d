"""Files that are compressed."""

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

PACKED = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zip": "zip"}


def unpack(path: Path, suffixes: Sequence[str]) -> tuple[Path, bytes]:
    """The name without the ending of the compression, and the contents of the file.

    Parameters
    ----------
    path
        Of the file. One that is not compressed is read as it is.
    suffixes
        Endings of tables, of which a `.zip` file must hold one.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.csv.gz")
    ...     _ = path.write_bytes(gzip.compress(b"x,y"))
    ...     unpack(path, [".csv"])[1]
    b'x,y'
    """
    data, suffix = path.read_bytes(), path.suffix.lower()
    if suffix not in PACKED:
        return path, data
    if suffix == ".zip":
        return _only_table(path, data, suffixes)
    try:
        module = {".gz": gzip, ".bz2": bz2, ".xz": lzma}[suffix]
        return Path(path.stem), module.decompress(data)
    except (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"{path} is no complete {PACKED[suffix]} file: {error}") from None


def _only_table(path: Path, data: bytes, suffixes: Sequence[str]) -> tuple[Path, bytes]:
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except zipfile.BadZipFile as error:
        raise ValueError(f"{path} is no complete zip file: {error}") from None
    with archive:
        names = [info.filename for info in archive.infolist() if not info.is_dir()]
        names = [name for name in names if not name.startswith("__MACOSX/")]
        tables = [name for name in names if Path(name).suffix.lower() in suffixes]
        if len(tables) != 1:
            holds = ", ".join(names[:5]) + ", …" * (len(names) > 5) or "nothing"
            raise ValueError(f"{path} must hold one table, and holds {holds}")
        try:
            return Path(tables[0]), archive.read(tables[0])
        except (RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
            # a password, an odd compression, a damaged file
            raise ValueError(f"{path} cannot be unpacked: {error}") from None
