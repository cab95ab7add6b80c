"""Find, measure and test non-linear dependence in data.

Every public name is loaded on first use; the stub beside this file lists them.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
