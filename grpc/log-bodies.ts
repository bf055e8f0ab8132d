/**
 * Reads the bodies of log records from an ExportLogsServiceRequest of OpenTelemetry, and skips everything else.
 *
 * Envoy sends one record for each call, so nothing is made of a record but its text.
 */
import { elementAt } from '@gw/contract/internal/defined';
import protobuf from 'protobufjs';

/** The fields on the way to a text: resource_logs, scope_logs, log_records, body, string_value. */
const way = [1, 2, 2, 5, 1] as const;
const lengthDelimited = 2;

/** Throws if the bytes are no such message. */
export function logBodies(message: Uint8Array): string[] {
  const reader = protobuf.Reader.create(message);
  const bodies: string[] = [];
  const read = (end: number, depth: number): void => {
    while (reader.pos < end) {
      const tag = reader.uint32();
      if (tag !== ((elementAt(way, depth) << 3) | lengthDelimited)) reader.skipType(tag & 7);
      else if (depth === way.length - 1) bodies.push(reader.string());
      else read(reader.uint32() + reader.pos, depth + 1);
    }
  };
  read(reader.len, 0);
  return bodies;
}
