def test_western_letters_are_read_and_said(read):
    source = read("a,b\n1,é€\n".encode("cp1252"))
    assert source.frame["b"].to_list() == ["é€"]
    assert "not UTF-8 (byte 7): read as Windows-1252" in source.notes[0]
    assert read("a,b\n1,ł\n".encode("iso8859-2"), encoding="iso8859-2").frame["b"].to_list() == ["ł"]
