"""Records of searches are read as they were written, and refuse what they do not know."""

import pytest
from pydantic import ValidationError

from mlstream.records.selection_record import Selection, SelectionRecord, Trial

TRIAL = Trial(parameters={"a": [1, None]}, status="done", ba_macro=0.5, frugality=0.25, energy_kwh=1.0)


def test_records_are_read_as_they_were_written():
    record = SelectionRecord(run={"settings": {"k": 3}}, selection=Selection(trials=[TRIAL], chosen=0))
    assert SelectionRecord.model_validate_json(record.model_dump_json()) == record


@pytest.mark.parametrize(
    "changes", [{"colour": "red"}, {"status": "great"}, {"wall_time_s": -1.0}, {"energy_kwh": -1.0}], ids=str
)
def test_nonsense_is_refused(changes):
    with pytest.raises(ValidationError):
        Trial.model_validate(TRIAL.model_dump() | changes)
