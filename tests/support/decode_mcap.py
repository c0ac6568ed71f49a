"""Reads an MCAP file with the public packages alone and prints what it holds as one JSON object."""

from __future__ import annotations

import json
import sys
from collections import Counter

from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory

MOST_CHARS = 2000


def shown(value: object) -> object:
    """A field's value in short: the length of bytes, the text of anything else."""
    if isinstance(value, bytes):
        return len(value)
    return str(value)[:MOST_CHARS]


def main(path: str) -> None:
    topics: Counter[str] = Counter()
    schemas: dict[str, str] = {}
    fields: dict[str, dict[str, object]] = {}
    times: list[int] = []
    with open(path, "rb") as stream:
        reader = make_reader(stream, validate_crcs=True, decoder_factories=[DecoderFactory()])
        for schema, channel, message, decoded in reader.iter_decoded_messages(log_time_order=False):
            topics[channel.topic] += 1
            schemas[channel.topic] = schema.name
            times.append(message.log_time)
            fields[channel.topic] = {field.name: shown(value) for field, value in decoded.ListFields()}
        metadata = {record.name: dict(record.metadata) for record in reader.iter_metadata()}
        summary = reader.get_summary()
    counted = summary.statistics.message_count if summary and summary.statistics else None
    print(
        json.dumps(
            {
                "topics": topics,
                "schemas": schemas,
                "last": fields,
                "metadata": metadata,
                "counted": counted,
                "first_ns": str(min(times)),
                "last_ns": str(max(times)),
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1])
