"""Features are scaled, and labels balanced, by the rows met: as by lists of all of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.estimators.networks.kernels.test_one_pass import STEPS, compare


@pytest.mark.parametrize("dense", [True, False])
@given(st.data(), STEPS, st.booleans(), st.booleans(), st.booleans())
def test_deviations_and_counts_are_those_of_lists(dense, data, options, scale, centre, balance):
    scale = scale or not balance
    centre = centre and dense and scale
    compare(data, options._replace(dense=dense, scale=scale, centre=centre, balance=balance))
