"""What every part of the configuration is: typed fields, described, and no others."""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$", max_length=80)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]


class Section(BaseModel):
    """A part of the configuration: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def canonical(self) -> str:
        """Returns the part as canonical JSON: the same settings always give the same string."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)
