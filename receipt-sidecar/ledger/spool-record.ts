/**
 * Encodes a line of the spool: a JSON object with its CRC-32 as the first member, so that a line which the disk has damaged is not taken for
 * a receipt.
 *
 * Invariant: the release before, which knows no checksum, reads such a line as JSON with a member more, and what it wrote
 * is read here, so that a change of the release in mid-outage loses nothing, whichever way it goes.
 */
import { crc32 } from 'node:zlib';

/** It captures the version of the format and the checksum of the object without this member. */
const headPattern = /^\{"spool":"(\d+):([0-9a-f]{8})",/;
const version = '1';

const checksum = (entry: string): string => crc32(entry).toString(16).padStart(8, '0');

/** Takes the text of a JSON object with at least one member, and returns its line without the line feed. */
export const recordOf = (entry: string): string => `{"spool":"${version}:${checksum(entry)}",${entry.slice(1)}`;

/** Returns null if the line is damaged, or of a format that this release does not know. */
export function entryOfRecord(line: string): string | null {
  const head = headPattern.exec(line);
  // A line that begins like a record but is none was damaged there.
  if (head === null) return !line.startsWith('{"spool') && isObject(line) ? line : null;
  const entry = `{${line.slice(head[0].length)}`;
  return head[1] === version && head[2] === checksum(entry) ? entry : null;
}

function isObject(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
