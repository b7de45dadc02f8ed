"""Where modules of `mlstream` have moved to: see `estimators.contract.old_names`."""

# Old name -> new name.
MOVED = {
    "mlstream.array_likes": "mlstream.streams.array_likes",
    "mlstream.card_model": "mlstream.streams.card_model",
    "mlstream.cli.challenge_creation": "mlstream.cli.challenge.creation",
    "mlstream.cli.challenge_demo": "mlstream.cli.challenge.demo",
    "mlstream.cli.challenge_organiser": "mlstream.cli.challenge.organiser",
    "mlstream.cli.challenge_serving": "mlstream.cli.challenge.serving",
    "mlstream.cli.challenge_team": "mlstream.cli.challenge.team",
    "mlstream.formats.arrays": "mlstream.streams.tables.arrays",
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
    "mlstream.stream": "mlstream.streams.stream",
    "mlstream.summaries": "mlstream.streams.summaries",
}
