"""Plotly itself judges the charts: colours of the page's style sheet are put in, then every property is validated."""

import re
from pathlib import Path

import plotly.graph_objects as go

import mlstream.reporting

TEMPLATES = Path(mlstream.reporting.__file__).parent / "templates"
STYLE = (TEMPLATES / "report.css").read_text(encoding="utf-8")


def palettes():
    """Give the colour variables of the light and of the dark page."""
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#\w{6})", block)) for block in re.findall(r":root \{(.*?)\}", STYLE, re.S)
    )
    return light, light | dark


def require_valid(chart):
    """Fail if Plotly knows a property or value of any view not, or a colour is not in the style sheet."""
    for view in chart.views:
        go.Figure({"data": _coloured(view.data), "layout": _coloured(view.layout)}).to_json()


def _coloured(value):
    if isinstance(value, str) and value.startswith("var(--"):
        return palettes()[0][value[6:-1]]
    if isinstance(value, list):
        return [_coloured(item) for item in value]
    return {key: _coloured(item) for key, item in value.items()} if isinstance(value, dict) else value
