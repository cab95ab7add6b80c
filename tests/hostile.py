"""Names and values that a page must show as text."""

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
