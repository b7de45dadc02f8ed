"""The new places of modules of `mlstream` that have moved: see `estimators.contract.old_names`."""

# Old name -> new name.
MOVED = {
    "mlstream.array_likes": "mlstream.streams.array_likes",
    "mlstream.card_model": "mlstream.streams.card_model",
    "mlstream.formats.arrays": "mlstream.streams.tables.frame_tables",
    "mlstream.formats.columns": "mlstream.streams.tables.columns",
    "mlstream.formats.content": "mlstream._support.content",
    "mlstream.formats.frame_tables": "mlstream.streams.tables.frame_tables",
    "mlstream.formats.labels": "mlstream.streams.tables.labels",
    "mlstream.formats.missing_values": "mlstream.streams.tables.missing_values",
    "mlstream.formats.mulan": "mlstream.streams.tables.mulan",
    "mlstream.formats.table": "mlstream.streams.tables.table",
    "mlstream.formats.text_columns": "mlstream.streams.tables.text_columns",
    "mlstream.frames": "mlstream.streams.frames",
    "mlstream.label_sets": "mlstream.streams.label_sets",
    "mlstream.label_values": "mlstream.streams.label_values",
    "mlstream.reporting.comparison": "mlstream.analysis.comparison",
    "mlstream.reporting.complete_blocks": "mlstream.analysis.complete_blocks",
    "mlstream.reporting.costs": "mlstream.analysis.costs",
    "mlstream.reporting.curves": "mlstream.analysis.curves",
    "mlstream.reporting.groups": "mlstream.analysis.groups",
    "mlstream.reporting.pareto": "mlstream.analysis.pareto",
    "mlstream.reporting.score_info": "mlstream.analysis.score_info",
    "mlstream.reporting.transfer": "mlstream.analysis.transfer",
    "mlstream.stream": "mlstream.streams.stream",
}
