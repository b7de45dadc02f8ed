"""The base of models that users meet."""

from collections.abc import Iterable

from pydantic import BaseModel

_NOT_OURS = set(dir(BaseModel)) - set(dir(object))


class Model(BaseModel):
    """A model of pydantic whose `dir`, from which IPython completes names, holds none of pydantic's forty."""

    def __dir__(self) -> Iterable[str]:
        names = super().__dir__()
        return sorted({*names} - _NOT_OURS | {*type(self).model_fields})
