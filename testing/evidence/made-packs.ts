/** Helpers for packs and logs that a test has in memory. */
import { joined, type Span, spanHash } from '@gw/evidence/merkle';

/** The bytes of a file with these bytes or this text, or with this value as JSON. */
export async function* bytesOf(content: unknown, size = 65_536): AsyncGenerator<Buffer> {
  const isWritten = typeof content === 'string' || Buffer.isBuffer(content);
  const bytes = Buffer.from(isWritten ? content : JSON.stringify(content));
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Returns a function that gives the hash of any span of a log, from the hashes of all its entries. */
export function spanHashOf(leaves: readonly string[]): (span: Span) => string {
  const known = new Map<string, string>();
  return (span) =>
    spanHash(span, ({ index, level }) => {
      const place = `${level}:${index}`;
      const hash = known.get(place) ?? joined(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level));
      known.set(place, hash);
      return hash;
    });
}
