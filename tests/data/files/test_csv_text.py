def test_quotes_keep_separators_lines_and_lone_marks(read):
    assert read('a,b\n"x,\ny",1\n"say ""so""",2\n').frame["a"].to_list() == ["x,\ny", 'say "so"']
    assert read('a,b\n5" pipe,1\n6" pipe,2\n7,8\n').frame["a"].to_list() == ['5" pipe', '6" pipe', "7"]


def test_empty_lines_and_columns_are_said(read):
    source = read("a,b,c\n1,,2\n\n3,,4\n\n")
    assert source.frame.rows() == [(1, None, 2), (3, None, 4)]
    assert source.notes == ("2 rows without any value: left out", "column 'b' holds no value: empty")
