/** Compressed replies come out whole and in order, and within bounds. */
import { brotliCompressSync, constants, createBrotliCompress, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { Decompressor, decompressed, type Encoding, encodingOf, isUnreadable } from './compressed.ts';

const text = 'data: {"choices":[]}\n\n'.repeat(50);
const whole = {
  gzip: gzipSync(text),
  'x-gzip': gzipSync(text),
  deflate: deflateSync(text),
  br: brotliCompressSync(text),
};
const all = Object.entries(whole) as [Encoding, Buffer][];

test.each(all)('%s is undone, whole and by single bytes', async (encoding, bytes) => {
  expect(Buffer.from(decompressed(bytes, encoding, 10_000) ?? '').toString()).toBe(text);
  const stream = new Decompressor(encoding);
  const parts = await Promise.all(Array.from(bytes, (_, at) => stream.take(bytes.subarray(at, at + 1))));
  expect(Buffer.concat(parts.map((part) => part ?? Buffer.from('broken'))).toString()).toBe(text);
  stream.close();
});

test.each([
  ['gzip', () => createGzip({ flush: constants.Z_SYNC_FLUSH })],
  ['br', () => createBrotliCompress({ flush: constants.BROTLI_OPERATION_FLUSH })],
] as const)('an event in %s comes out with its own piece', async (encoding, open) => {
  const [writer, reader] = [open(), new Decompressor(encoding)];
  for (let event = 0; event < 3; event++) {
    const piece = new Promise<Buffer>((resolve) => writer.once('data', resolve));
    writer.write(`data: ${event}\n\n`);
    expect((await reader.take(await piece))?.toString()).toBe(`data: ${event}\n\n`);
  }
});

test.each(all)('%s of more than is allowed, and other bytes, are refused', async (encoding, bytes) => {
  expect(decompressed(bytes, encoding, 100)).toBeNull();
  const other = Buffer.from('{"no":"compressed bytes"}');
  expect(decompressed(other, encoding, 10_000)).toBeNull();
  const stream = new Decompressor(encoding);
  expect([await stream.take(other), await stream.take(bytes)]).toEqual([null, null]);
});

test('a piece that stands for too much is refused', async () => {
  const zeros = Buffer.alloc(17 * 1024 * 1024);
  expect(await new Decompressor('gzip').take(gzipSync(zeros))).toBeNull();
});

test.each([
  [undefined, null, false],
  ['identity', null, false],
  [' GZip ', 'gzip', false],
  ['br', 'br', false],
  ['zstd', null, true],
  ['gzip, br', null, true],
  ['toString', null, true],
])('an encoding is known by its name: %s', (said, encoding, unreadable) => {
  const headers = new Map(said === undefined ? [] : [['content-encoding', said]]);
  expect([encodingOf(headers), isUnreadable(headers)]).toEqual([encoding, unreadable]);
});
