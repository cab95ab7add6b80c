"""Results to plain data (`summary`, `document`, `records`), and those to text, figures and pages.

The stub beside this file lists what results show themselves by; each is loaded on first use. Nothing below imports this
room but `renyi.pair.showing`, which results of pairs and tables share.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
