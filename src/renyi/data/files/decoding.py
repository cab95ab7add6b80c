"""Bytes to text in UTF-8: what is packed is unpacked or refused, what is no text is refused."""

import codecs
import gzip
import zlib
from pathlib import Path

from renyi.data.files.request import Request
from renyi.errors import InputError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
GZIP = b"\x1f\x8b"
# What gzip raises of content that is not whole.
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)
_CHUNK = 2**20
_PACKED = {b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}
_CONTROLS = bytes([*range(9), *range(14, 27), *range(28, 32), 127])


def unpack(data: bytes, request: Request) -> bytes:
    """The content, out of gzip where it is in it."""
    if data.startswith(GZIP):
        try:
            data = gzip.decompress(data)
        except DAMAGED as error:
            raise damaged(request) from error
    refuse_packed(data, request)
    if not data.strip():
        raise request.refuse("is empty: pass a file with a line of names and rows below it")
    return data


def damaged(request: Request, /) -> InputError:
    """The refusal of gzip that is not whole."""
    return request.refuse("is a gzip file cut short or damaged: fetch it again")


def unfolds_beyond(file: Path, most: int, /) -> bool:
    """Whether a file is gzip and holds more than so many bytes, as only unpacking it tells: 1 may become 1,000."""
    try:
        with gzip.open(file) as content:
            while most >= 0 and (chunk := content.read(_CHUNK)):
                most -= len(chunk)
    except (OSError, *DAMAGED):  # not in gzip; and what cannot be read is said by who reads it
        return False
    return most < 0


def refuse_packed(data: bytes, request: Request, /) -> None:
    """Refuse what begins like a file of another program for packing."""
    for magic, packing in _PACKED.items():
        if data.startswith(magic):
            hint = ", or save the sheet as CSV if it is an Excel file" if packing == "zip" else ""
            raise request.refuse(f"is packed by {packing}, which is not read here: unpack it first{hint}")


def decode(data: bytes, request: Request) -> bytes:
    """The text in UTF-8, without byte order mark."""
    encoding = request.encoding or next((name for mark, name in _BOMS if data.startswith(mark)), None)
    if encoding is not None:
        try:
            data = data.decode(encoding).removeprefix("\ufeff").encode()
        except (LookupError, ValueError) as error:
            raise request.refuse(f"cannot be read in the encoding {encoding} ({error}): pass the right one") from error
    _refuse_binary(data, request)
    if data.isascii():
        return data
    try:
        data.decode()
    except UnicodeDecodeError as error:
        text, known = _decode_western(data)
        where = f"byte {error.start + 1:,}"
        request.notes.say(
            f"the text is not UTF-8 ({where}): read as {known}, pass another encoding if letters look wrong"
        )
        return text.encode()
    return data


def _decode_western(data: bytes) -> tuple[str, str]:
    try:
        return data.decode("cp1252"), "Windows-1252"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "Latin-1"


def _refuse_binary(data: bytes, request: Request) -> None:
    first = data.find(0)
    if first >= 0:
        raise request.refuse(
            f"holds a NUL byte (byte {first + 1:,}), which no text has: the file is binary or damaged, or in an "
            "encoding to be named, such as utf-16-le"
        )
    head = data[:8192]
    if len(head) - len(head.translate(None, delete=_CONTROLS)) > len(head) // 100:
        raise request.refuse("is neither text nor a Parquet or Arrow file: pass one of these, or CSV or JSON")
