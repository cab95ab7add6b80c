import codecs
import gzip

import pytest

from renyi.data.files.decoding import decode, unpack
from renyi.data.files.request import Request
from renyi.errors import InputError


def test_western_letters_are_read_and_said(read):
    source = read("a,b\n1,é€\n".encode("cp1252"))
    assert source.frame["b"].to_list() == ["é€"]
    assert "not UTF-8 (byte 7): read as Windows-1252" in source.notes[0]
    assert read("a,b\n1,ł\n".encode("iso8859-2"), encoding="iso8859-2").frame["b"].to_list() == ["ł"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-8"])
def test_byte_order_marks_name_their_encoding_and_go(encoding):
    request = Request.of("t.csv")
    assert decode("größe,€\n".encode(encoding), request) == "größe,€\n".encode()
    assert request.notes.sentences() == ()
    assert decode(codecs.BOM_UTF32_BE + "ä".encode("utf-32-be"), request) == "ä".encode()


def test_an_encoding_that_is_named_is_taken_at_its_word():
    assert decode("ä".encode("utf-16-le"), Request.of("t.csv", encoding="utf-16-le")) == "ä".encode()
    assert decode(codecs.BOM_UTF8 + b"a", Request.of("t.csv", encoding="utf-8")) == b"a"
    with pytest.raises(InputError, match=r"t\.csv cannot be read in the encoding ascii"):
        decode("ä".encode(), Request.of("t.csv", encoding="ascii"))


def test_bytes_that_windows_has_no_letter_for_are_latin():
    request = Request.of("t.csv")
    assert decode(b"a\x81\xe9", request) == "a\x81é".encode()
    assert "read as Latin-1" in request.notes.sentences()[0]


def test_what_is_packed_is_unpacked_once_or_refused():
    request = Request.of("t.csv")
    assert unpack(gzip.compress(b"a,b\n"), request) == b"a,b\n"
    with pytest.raises(InputError, match=r"packed by bzip2, which is not read here: unpack it first$"):
        unpack(gzip.compress(b"BZh91AY"), request)
    with pytest.raises(InputError, match="is empty"):
        unpack(gzip.compress(b" \n"), request)
