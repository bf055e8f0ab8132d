import { readdirSync, readFileSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';
import { textDigest } from '@gw/contract/internal/ledger-entry';
import { inCheckout } from '@gw/stack/checkout';
import { cases } from '@gw/testing/cases';
import { callAt, entryFrom } from '@gw/testing/control-plane/calls';
import { rowOfEntry } from '@gw/testing/control-plane/store-entries';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Compressed, Compressor, columnsOf, dictionaryOf, uncompressed } from './compressed-rows.ts';
import { type ReceiptRow, type Texts, textsOf } from './entry-row.ts';
import { splitRows } from './facts-parts.ts';

const at = '2026-11-21T09:10:00Z';
const trace = { decision: 'the only one', candidates: ['here', 'there'], estimated_saving_g: -0.25 };

function madeRow(changes: Partial<ReceiptRow> = {}): ReceiptRow {
  const row = { ...rowOfEntry(entryFrom(callAt(at))), routing_trace: trace, ...changes };
  const [split] = splitRows([row]).rows;
  if (split === undefined) throw new Error('There is no row.');
  return split;
}

function compressed(row: ReceiptRow, by = new Compressor()): Compressed {
  const found = by.compress(row, textsOf(row));
  if (found === null) throw new Error('It is not compressed.');
  return found;
}

const back = ({ columns, compressed: bytes, dictionary }: Compressed, changes: Partial<Texts> = {}): Texts | null =>
  uncompressed({ ...columns, ...changes, shown: false, compressed: bytes }, Buffer.from(dictionary.content));

test('what comes out is what went in, to the byte, whatever it is', () => {
  const json = fc.jsonValue({ stringUnit: 'binary' }).map((value): unknown => JSON.parse(JSON.stringify(value)));
  const fields = fc.dictionary(fc.string({ unit: 'binary' }), json);
  const by = new Compressor();
  fc.assert(
    fc.property(
      fields,
      json.filter((value) => value !== null),
      fields,
      fc.dictionary(fc.string(), json),
      (body, routing_trace, facts, parts) => {
        const row = { ...madeRow(), body, routing_trace, facts: { ...facts, parts } };
        fc.pre(!JSON.stringify(row).includes('\\u0000'));
        expect(back(compressed(row, by))).toEqual(textsOf(row));
      },
    ),
    { numRuns: cases(1000) },
  );
});

test('a row that is like another one takes an eighth of its texts, or less', () => {
  const by = new Compressor();
  const first = madeRow();
  const made = [first, ...Array.from({ length: 20 }, () => madeRow())].map((row) => compressed(row, by));
  const { body, facts, routing_trace } = textsOf(first);
  const whole = body.length + (routing_trace ?? '').length + (facts ?? '').length;
  for (const each of made) expect(each.compressed.length).toBeLessThan(whole / 8);
  expect(new Set(made.map(({ dictionary }) => dictionary.sha256)).size).toBe(1);
});

test('the dictionary is named in front, by its digest, and has no project', () => {
  const row = madeRow();
  const { compressed: bytes, dictionary } = compressed({
    ...row,
    body: { ...(row.body as object), project: 'secret-plan' },
  });
  expect(dictionaryOf(bytes)).toBe(dictionary.sha256);
  expect(textDigest(dictionary.content)).toBe(dictionary.sha256);
  expect(dictionary.content).not.toContain('secret-plan');
});

describe('a row stays as it is', () => {
  test.each<[string, Partial<ReceiptRow>]>([
    ['that may be recalculated', { tier: 'degraded' }],
    ['that the client was shown', { shown: true }],
    ['without facts', { facts: null }],
    ['without a routing trace', { routing_trace: null }],
    ['whose facts are no object', { facts: [1] }],
    ['whose facts are whole', { facts: { usage: null } }],
    ['with a NUL, which Postgres refuses', { body: { model: '\u0000' } }],
    ['that is as large as no row is', { routing_trace: 'x'.repeat(32_000) }],
  ])('%s', (_, changes) => {
    const row = { ...madeRow(), ...changes };
    expect(new Compressor().compress(row, textsOf(row))).toBeNull();
  });
});

describe('of the columns', () => {
  test('what SQL reads stays', () => {
    const row = madeRow({ body: { ...(madeRow().body as object), project: 'one', simulated: true } });
    const { body, facts, routing_trace } = columnsOf(row);
    const whole = row.body as Record<string, unknown>;
    expect(JSON.parse(body)).toMatchObject({ project: 'one', simulated: true, grid_zone: whole.grid_zone });
    for (const [name, value] of Object.entries(JSON.parse(body) as object)) expect(value).toEqual(whole[name]);
    expect(JSON.parse(routing_trace ?? '')).toEqual({ estimated_saving_g: -0.25 });
    const { grid } = (row.facts as { parts: { grid: string } }).parts;
    expect(JSON.parse(facts ?? '')).toEqual({ usage: {}, parts: { grid } });
  });

  test('what makes a trigger wait for counters stays, too', () => {
    const facts = { telemetryFollows: true, parts: { model: 'm', site: 's', grid: 'g' } };
    expect(JSON.parse(columnsOf({ ...madeRow(), facts }).facts ?? '')).toEqual({
      telemetryFollows: true,
      parts: { site: 's', grid: 'g' },
    });
  });

  test.each<[string, Partial<Texts>]>([
    ['the receipt', { body: '{"provider":"another"}' }],
    ['the routing trace', { routing_trace: '{"estimated_saving_g":1000}' }],
    ['the routing trace is none', { routing_trace: null }],
    ['the facts', { facts: '{"parts":{}}' }],
    ['the facts are none', { facts: null }],
    ['it is the receipt with a name twice', { body: columnsOf(madeRow()).body.replace(/}$/, ',"grid_zone":"FRA"}') }],
  ])('it is found if they say something else: %s', (_, changes) => {
    const made = compressed(madeRow());
    expect(back(made)).not.toBeNull();
    expect(back(made, changes)).toBeNull();
  });

  test('all that SQL reads of a receipt is known here', () => {
    const files = readdirSync(inCheckout('control-plane'), { recursive: true, encoding: 'utf8' });
    const sources = files
      .filter((file) => file.endsWith('.ts') && !file.endsWith('test.ts'))
      .map((file) => readFileSync(inCheckout('control-plane', file), 'utf8'));
    const read = sources.flatMap((text) => [...text.matchAll(/\br\.body ->>? '(\w+)'/g)].map(([, name]) => name));
    expect(read).toContain('grid_zone');
    const whole = Object.fromEntries(read.map((name) => [name, 1]));
    expect(JSON.parse(columnsOf(madeRow({ body: whole })).body)).toEqual(whole);
    // Whoever adds one of these adds it to `columnsOf` as well.
    const others = sources.flatMap((text) => [...text.matchAll(/\br\.(?:facts|routing_trace) ->>? '(\w+)'/g)]);
    expect(others.map(([found]) => found)).toEqual([]);
    expect(sources.flatMap((text) => [...text.matchAll(/facts_part\(r\.facts, '(\w+)'\)/g)].map(([, n]) => n))).toEqual(
      ['grid'],
    );
  });
});

describe('bytes are refused', () => {
  const row = madeRow();
  const made = compressed(row);
  const dictionary = Buffer.from(made.dictionary.content);
  const own = (text: string): Buffer =>
    Buffer.concat([Buffer.from(made.dictionary.sha256, 'hex'), deflateRawSync(text, { dictionary })]);
  const { body, facts, routing_trace } = textsOf(row);

  test.each<[string, Buffer]>([
    ['that are cut off', made.compressed.subarray(0, -3)],
    ['of nothing behind the digest', made.compressed.subarray(0, 32)],
    ['that are shorter than a digest', made.compressed.subarray(0, 5)],
    ['behind the last', Buffer.concat([made.compressed, Buffer.from('more')])],
    ['of a further line', own(`${body}\n${routing_trace}\n${facts}\n{}`)],
    ['of two lines', own(`${body}\n${routing_trace}`)],
    ['of more than a row has', own(`${body}${' '.repeat(10_000_000)}\n${routing_trace}\n${facts}`)],
  ])('%s', (_, bytes) => {
    expect(back({ ...made, compressed: own(`${body}\n${routing_trace}\n${facts}`) })).toEqual(textsOf(row));
    expect(back({ ...made, compressed: bytes })).toBeNull();
  });

  test('that are altered, or they are another receipt, which its seal tells', () => {
    for (let at = 32; at < made.compressed.length; at++) {
      const altered = Buffer.from(made.compressed);
      altered[at] = (altered[at] ?? 0) ^ 0xff;
      expect(back({ ...made, compressed: altered })).not.toEqual(textsOf(row));
    }
  });
});

test('with another dictionary than its own a row is not what it was', () => {
  const made = compressed(madeRow());
  const other = { ...made.dictionary, content: 'x'.repeat(3000) };
  expect(back({ ...made, dictionary: other })).not.toEqual(back(made));
});

test('however many shapes there are, a process holds some hundred dictionaries', () => {
  const by = new Compressor();
  const used = new Set<string>();
  for (let at = 0; at < 700; at++)
    used.add(compressed(madeRow({ model: `model-${at}`, body: { at } }), by).dictionary.sha256);
  expect(used.size).toBe(500);
});
