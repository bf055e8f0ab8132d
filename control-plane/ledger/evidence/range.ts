/** Reads which bytes of an unchanging resource a request asks for (RFC 9110, 14). */

/** The bytes from `start` to before `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Null: the whole resource. As the standard allows, several ranges, and a range of another state of the resource, give all of it too. */
export function rangeOf(
  headers: Readonly<Record<string, unknown>>,
  { bytes, etag }: { readonly bytes: number; readonly etag: string },
): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(String(headers.range ?? '')) ?? [];
  const isOther = headers['if-range'] !== undefined && headers['if-range'] !== etag;
  if (isOther || (first === '' && last === '')) return null;
  if (first === '') {
    const start = Math.max(0, bytes - Number(last));
    return start >= bytes ? 'unsatisfiable' : { start, end: bytes };
  }
  const start = Number(first);
  const end = last === '' ? bytes : Math.min(bytes, Number(last) + 1);
  if (last !== '' && Number(last) < start) return null;
  return start >= bytes ? 'unsatisfiable' : { start, end };
}
