/**
 * One line of the spool: a JSON object with its CRC-32 as the first member, so that a line which the disk has damaged is
 * not taken for a receipt.
 */
import { crc32 } from 'node:zlib';

/** It captures the version of the format and the checksum of the object without this member. */
const headPattern = /^\{"spool":"(\d+):([0-9a-f]{8})",/;
const version = '1';

const checksum = (entry: string): string => crc32(entry).toString(16).padStart(8, '0');

/** Takes the text of a JSON object with at least one member, and returns its line without the line feed. */
export const recordOf = (entry: string): string => `{"spool":"${version}:${checksum(entry)}",${entry.slice(1)}`;

/** Returns the entry, or null if the line is not what was written, or of a form that is not known here. */
export function entryOfRecord(line: string): string | null {
  const head = headPattern.exec(line);
  if (head === null) return null;
  const entry = `{${line.slice(head[0].length)}`;
  return head[1] === version && head[2] === checksum(entry) ? entry : null;
}
