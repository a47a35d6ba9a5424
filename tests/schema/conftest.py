"""The modules of this folder that tests of it share."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
