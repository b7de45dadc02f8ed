"""The look of the gallery's figures: in the colours of the reports, with text that can be read on a thumbnail."""

from typing import Any

import matplotlib.pyplot as plt
from cycler import cycler

from mlstream.plotting.styles import PAPER_COLOURS


def reset(gallery_conf: dict[str, Any], path: str) -> None:  # noqa: ARG001 - sphinx-gallery passes both
    """Change the defaults of Matplotlib before an example; sphinx-gallery calls it."""
    plt.rcParams.update({"font.size": 12, "axes.prop_cycle": cycler(color=PAPER_COLOURS)})
