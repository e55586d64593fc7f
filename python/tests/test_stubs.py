"""The stubs that editors read are those of the registry: MERCER_STUBS=write makes them anew."""

import inspect
import os
from pathlib import Path

from mercer._estimators import CLASSES, FEATURES

STUBS = Path(__file__).parents[1] / "mercer" / "__init__.pyi"

HEAD = '''"""Made from the registry by tests/test_stubs.py."""

from typing import Any

from . import stats as stats
from ._base import _Classifier, _Features, _Regressor, _WeighingClassifier, _WeighingRegressor
from ._compare import compare as compare
from ._data import bound as bound
from ._data import load_dataset as load_dataset
from ._data import results as results

__version__: str

def all_estimators() -> dict[str, type]: ...
'''


def stub(name, cls):
    base = cls.__base__.__name__
    parameters = inspect.signature(cls).parameters.values()
    given = [f"        {own.name}: Any = {own.default!r},\n" for own in parameters]
    return f"\nclass {name}({base}):\n    def __init__(\n        self,\n        *,\n{''.join(given)}    ) -> None: ...\n"


def test_stubs_are_those_of_the_registry():
    text = HEAD + "".join(stub(name, cls) for name, cls in (CLASSES | FEATURES).items())
    if os.environ.get("MERCER_STUBS") == "write":
        STUBS.write_text(text)
    assert STUBS.read_text() == text, "run MERCER_STUBS=write just python"
