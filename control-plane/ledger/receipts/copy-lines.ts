/**
 * Rows as the lines that COPY reads, in its text format (PostgreSQL, "COPY", section "Text Format").
 *
 * They lie in memory that the next batch uses again: buffers of their own would outlive the short collections of garbage, and by their
 * bytes make V8 mark the whole heap every few seconds.
 */

/** Where a line lies. */
export interface Line {
  readonly from: number;
  readonly to: number;
}

/** A column: null is NULL. */
export type Column = string | number | boolean | null;

const special = /[\\\t\n\r]/g;
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function columnText(column: Column): string {
  if (column === null) return '\\N';
  return typeof column === 'string' ? column.replace(special, (found) => escapes[found] ?? found) : String(column);
}

const firstBytes = 1024 * 1024;
/** Larger memory is given back. */
const mostKeptBytes = 8 * 1024 * 1024;

/** Memory of which the first `used` bytes are to be kept, when it has to grow. */
function grown(bytes: Buffer, used: number, needed: number): Buffer {
  if (needed <= bytes.length) return bytes;
  const larger = Buffer.allocUnsafeSlow(Math.max(2 * bytes.length, needed));
  bytes.copy(larger, 0, 0, used);
  return larger;
}

export class CopyLines {
  #lines: Buffer = Buffer.allocUnsafeSlow(firstBytes);
  #used = 0;
  #out: Buffer = Buffer.allocUnsafeSlow(firstBytes);

  add(columns: readonly Column[]): Line {
    const text = `${columns.map(columnText).join('\t')}\n`;
    const from = this.#used;
    // A character of a text takes three bytes at most.
    this.#lines = grown(this.#lines, from, from + 3 * text.length);
    this.#used += this.#lines.write(text, from);
    return { from, to: this.#used };
  }

  /** Lines in their order, one behind the other. They are good until this is asked for again. */
  together(lines: readonly Line[]): Buffer {
    this.#out = grown(
      this.#out,
      0,
      lines.reduce((sum, { from, to }) => sum + to - from, 0),
    );
    let length = 0;
    for (const { from, to } of lines) length += this.#lines.copy(this.#out, length, from, to);
    return this.#out.subarray(0, length);
  }

  /** Forgets all lines. */
  clear(): void {
    this.#used = 0;
    if (this.#lines.length > mostKeptBytes) this.#lines = Buffer.allocUnsafeSlow(firstBytes);
    if (this.#out.length > mostKeptBytes) this.#out = Buffer.allocUnsafeSlow(firstBytes);
  }
}
