"""What every test has: no variable of a hook's repository, no settings of the user's own, one day."""

import os

from builders import environment

# Once for the process and before the first test: hypothesis forbids a fixture for each function.
_CLEAN = environment()
for _name in os.environ.keys() - _CLEAN.keys():
    del os.environ[_name]
os.environ.update(_CLEAN)
