"""Names and values that a page and a terminal must show as text."""

HOSTILE = [
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 1">',
    "<!-- <script>",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt;&amp;",
    "a,b",
    "a",
    "a ",
    " a",
    "שלום עולם",
    "\u202eevil\u202c",
    "👩‍👩‍👧 family",
    "long " * 1000,
    "=HYPERLINK(1)",
    "line\nbreak\ttab\x00",
    "100 % of 'quotes' #1",
    "\ud800 lone",
    "__proto__",
]

# The same for a terminal.
IN_A_TERMINAL = [
    "[bold]x[/]",
    "<script>alert('1')</script>",
    "two\nlines\tand\ra tab",
    "\x1b[31mred\x1b[0m",
    "quote \" and ' and \\",
    "a very long name " * 20,
    "שלום עולם",
    "\u202eturned",
    "👩‍🔬 emoji",
    "漢字の列",
    "[/]",
    "$x^2$",
]
