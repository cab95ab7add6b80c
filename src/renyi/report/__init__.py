"""Results to plain data (`summary`, `document`, `records`), and those to text, figures and pages.

Nothing below imports this room, except that a result draws itself when it is asked to.
"""
