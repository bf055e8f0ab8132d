/** A signer with the key tries to leave receipts out of a pack. With a database: control-plane/ledger/evidence/proven-packs.pg.test.ts. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import type { Receipt } from '@gw/contract/receipt';
import { bytesOf, registerOf, spanHashOf } from '@gw/testing/evidence/made-packs';
import { afterAll, describe, expect, test } from 'vitest';
import { type ArchivedMonth, archivedHash } from './archived-month.ts';
import { canonicalText } from './canonical.ts';
import { signedCheckpoint } from './checkpoint.ts';
import { hourHash, placeOf, placesOf, rootOfRange } from './hours.ts';
import { consistencySpans, inclusionSpans, leafHash } from './merkle.ts';
import type { PackContents, PackHours, ShownHour } from './pack.ts';
import { packText } from './pack-writer.ts';
import { verdictOf } from './verdict.ts';
import { verifyPack } from './verify.ts';
import { wholeText } from './whole-text.ts';

const example = JSON.parse(readFileSync(new URL('../docs/examples/receipt.json', import.meta.url), 'utf8')) as Receipt;
const key = signingKeyOf('01'.repeat(32));
const trust = { thumbprint: key.publicJwk.kid };
const day = '2026-11-20T';
const clock = (time: string) => `${day}${time}:00.000Z`;
const month: ArchivedMonth = {
  format: 'gw.archived_month/1',
  account: 'acct_1',
  month: '2026-10',
  receipts: 0,
  files_sha256: '1'.repeat(64),
  note_sha256: '2'.repeat(64),
  at: '2026-11-20T11:00:00.000Z',
};

/** The log: four hours, with a receipt that came late (8), a version 2 (9), and an archived month (10). */
const times = ['09:05', '09:15', '09:25', '09:45', '10:05', '10:20', '12:05', '12:40', '09:35', '10:05', null, '14:30'];
const receipts = times.map((time, index): Receipt | null => {
  if (time === null) return null;
  const own = index === 9 ? 4 : index;
  return {
    ...example,
    id: `rcpt_01a1fd70-f1c0-7000-8000-0000000000${String(own).padStart(2, '0')}`,
    created_at: clock(time),
    model: index % 2 === 0 ? 'even' : 'odd',
    ...(index === 9 && { version: 2, supersedes: 1, model: 'even' }),
  };
});
const leaves = receipts.map((each) => (each === null ? archivedHash(month) : leafHash(canonicalText(each))));
const hash = spanHashOf(leaves);
const created = receipts.map((each) => each?.created_at ?? null);

interface Period {
  readonly from: string;
  readonly to: string;
}
const whole: Period = { from: clock('00:00'), to: '2026-11-21T00:00:00.000Z' };
const cut: Period = { from: clock('09:20'), to: clock('12:10') };
const morning: Period = { from: clock('10:00'), to: clock('11:00') };

interface Made {
  readonly period?: Period;
  /** Whether a receipt is in the pack; all that are in its period, if it is absent. */
  readonly has?: (index: number) => boolean;
  readonly selection?: object;
  readonly hours?: (hours: PackHours) => PackHours | undefined;
  /** Where the signer says that the entries are. */
  readonly said?: readonly (string | null)[];
  readonly size?: number;
  readonly archived?: boolean;
  /** Whether the checkpoint signs the hours as they are shown. */
  readonly signsShown?: boolean;
  readonly until?: string;
  /** Members that are changed in the checkpoint once it is signed. */
  readonly checkpoint?: object;
}

const rootOfShown = ({ path, shown }: PackHours, { from, to }: Period): string => {
  const placed = shown.map((each) => ({ place: placeOf(Date.parse(each.hour)), hash: hourHash(each) }));
  return rootOfRange(placesOf(Date.parse(from), Date.parse(to)), placed, path) ?? '';
};

/** Whatever is left out, all else fits: sums, lists, manifest and signature are made anew by the key of the gateway. */
async function packOf(made: Made = {}): Promise<string> {
  const { archived = true, has = () => true, period = whole, said, selection = {}, size = leaves.length } = made;
  const register = registerOf(said ?? created.slice(0, size));
  const shown = register.hours(period);
  const hours = made.hours === undefined ? shown : made.hours(shown);
  const [completeUntil, issued] = [new Date(made.until ?? clock('15:00')), new Date(clock('15:15'))];
  const stated = {
    account: 'acct_1',
    baseUrl: 'https://gw.example',
    size,
    root: hash({ begin: 0, end: size }),
    hoursRoot: made.signsShown && hours !== undefined ? rootOfShown(hours, period) : register.root,
    completeUntil,
    issued,
  };
  const signed = await signedCheckpoint(stated, key);
  const pathOf = (index: number) => inclusionSpans(index, size).map(hash);
  const inside = ({ created_at }: Receipt) => created_at >= period.from && created_at < period.to;
  const contents: PackContents = {
    id: '00000000-0000-4000-8000-000000000001',
    issuedAt: issued,
    baseUrl: 'https://gw.example',
    accountId: 'acct_1',
    selection: { ...period, ...selection },
    period: { from: new Date(period.from), to: new Date(period.to) },
    excluded: [],
    receipts: receipts
      .flatMap((receipt, index) =>
        receipt !== null && index < size && inside(receipt) && has(index)
          ? [{ receipt, lineage: null, log: { index, path: pathOf(index) } }]
          : [],
      )
      .toSorted(({ receipt: a }, { receipt: b }) => (a.created_at < b.created_at ? -1 : 1) || a.version - b.version),
    log: {
      checkpoint: { ...signed, ...made.checkpoint },
      consistency: size > 6 ? { from: 6, path: consistencySpans(6, size).map(hash) } : null,
      ...(hours !== undefined && { hours }),
      ...(archived && size > 10 && { archived: [{ index: 10, path: pathOf(10), month }] }),
    },
  };
  return packText(contents, key);
}

const folder = mkdtempSync(join(tmpdir(), 'gw-verify-whole-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const script = fileURLToPath(new URL('../docs/examples/recompute_pack.py', import.meta.url));
/** The exit code of the program that shares nothing with the product, and what it prints of the hours. */
function python(text: string): { readonly status: number | null; readonly lines: string[] } {
  const file = join(folder, 'pack.jsonld');
  writeFileSync(file, text);
  const { status, stderr, stdout } = spawnSync('python3', ['-B', script, file], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return { status, lines: stdout.split('\n').filter((line) => line.startsWith('hours')) };
}

const verified = async (made: Made, earlier?: unknown) => {
  const text = await packOf(made);
  return { text, ...(await verifyPack(bytesOf(text), { trust, ...(earlier !== undefined && { earlier }) })) };
};
/** Returns the mismatches as `./gw verify` prints them. */
const told = ({ mismatches }: { readonly mismatches: readonly { field: string; expected: string; found: string }[] }) =>
  mismatches.map(({ expected, field, found }) => `${field}: expected ${expected}, found ${found}`).join('\n');

const bent =
  (change: (hour: ShownHour) => ShownHour | null) =>
  ({ path, shown }: PackHours) => ({
    path,
    shown: shown.flatMap((each) => change(each) ?? []),
  });
const at = (time: string, change: (hour: ShownHour) => ShownHour | null) =>
  bent((each) => (each.hour === clock(time) ? change(each) : each));
describe('a pack is proven to be whole', () => {
  test.each<[string, Made, string]>([
    ['of a day', {}, `complete until ${clock('15:00')}, 4 hours whole`],
    ['whose period begins and ends within an hour', { period: cut }, `complete until ${cut.to}, 3 hours whole`],
    ['of an hour among others', { period: morning }, `complete until ${morning.to}, 1 hours whole`],
    [
      'of a time without calls',
      { period: { from: clock('13:00'), to: clock('14:00') } },
      `complete until ${clock('14:00')}, 0 hours whole`,
    ],
    [
      'of a time that the log does not have yet',
      { period: { from: clock('16:00'), to: clock('17:00') } },
      'not proven: the log says nothing of its time yet',
    ],
    [
      'of all times',
      { period: { from: '1960-01-01T00:00:00.000Z', to: '4000-01-01T00:00:00.000Z' } },
      `complete until ${clock('15:00')}, 4 hours whole`,
    ],
  ])('%s', async (_, made, text) => {
    const found = await verified(made);
    expect([told(found), wholeText(found), verdictOf(found)]).toEqual(['', text, 'holds']);
    if (process.env.PY)
      expect(python(found.text)).toMatchObject({ status: 0, lines: [expect.stringContaining('whole')] });
  });

  test('but for an hour that it cuts, if that has too many calls to show their times', async () => {
    const said = [...created, ...Array.from({ length: 100_001 }, () => clock('14:50'))];
    const period = { from: clock('14:45'), to: clock('23:30') };
    const hours = at('14:00', ({ times: _, ...each }) => each);
    const found = await verified({ period, said, hours });
    expect([told(found), verdictOf(found)]).toEqual(['', 'ask']);
    expect(wholeText(found)).toContain(`whether it has all calls of the hour ${clock('14:00')} that it should`);
    if (process.env.PY)
      expect(python(found.text)).toMatchObject({ status: 0, lines: [expect.stringContaining(clock('14:00'))] });
  });
});

const without =
  (...gone: readonly number[]) =>
  (index: number) =>
    !gone.includes(index);
const notSigned = 'log.hours: expected the hours of the period that the checkpoint signs';
const lacks = (entries: string, hour: string) =>
  `log.hours: expected the entries ${entries} of the hour ${clock(hour)}, which the log has, found not in the pack`;
/** The entry 5 is said to be of another hour, or of none. */
const moved = (to: string | null) => created.map((each, index) => (index === 5 ? to && clock(to) : each));

const inYear2100 = created.with(5, '2100-01-01T00:20:00.000Z');
const toNow: Period = { from: '1970-01-01T00:00:00.000Z', to: whole.to };
const isAhead = `log.hours: expected no hour after ${clock('15:15')}, when the checkpoint was signed`;

/** All of them with sums that fit and the signature of the gateway. */
const tamperings: readonly [name: string, made: Made, told: string][] = [
  [
    'the receipts with most carbon left out',
    { has: without(5, 6, 7) },
    `${lacks('5 to 5', '10:00')}\n${lacks('6 to 7', '12:00')}`,
  ],
  ['one at the end of an hour left out', { has: without(3) }, lacks('3 to 3', '09:00')],
  ['one that came late left out', { has: without(8) }, lacks('8 to 8', '09:00')],
  ['a version 2 left out', { has: without(9) }, lacks('9 to 9', '10:00')],
  ['all receipts left out', { has: () => false }, lacks('11 to 11', '14:00')],
  [
    'the filter taken out of the selection',
    { has: (index) => receipts[index]?.model === 'odd' },
    lacks('0 to 0, 2 to 2, 8 to 8', '09:00'),
  ],
  [
    'the same without hours',
    { has: (index) => receipts[index]?.model === 'odd', hours: () => undefined },
    `${notSigned}, found nothing`,
  ],
  ['the selection widened', { has: without(0, 1, 2, 3, 6, 7, 8, 11) }, lacks('0 to 3, 8 to 8', '09:00')],
  [
    'the selection widened, with the hours of the narrow one',
    { has: without(0, 1, 2, 3, 6, 7, 8, 11), hours: () => registerOf(created).hours(morning) },
    notSigned,
  ],
  ['one of an hour that the period cuts left out', { period: cut, has: without(2) }, lacks('2 to 2', '09:00')],
  [
    'a range shortened',
    {
      has: without(3),
      hours: at('09:00', (each) => ({
        ...each,
        ranges: [
          [0, 3],
          [8, 1],
        ],
      })),
    },
    notSigned,
  ],
  ['an hour left out', { has: without(6, 7), hours: at('12:00', () => null) }, notSigned],
  [
    'an hour said to be another',
    { has: without(6, 7), hours: at('12:00', (each) => ({ ...each, hour: clock('13:00') })) },
    notSigned,
  ],
  [
    'the digest of the times of an hour altered',
    { hours: at('09:00', (each) => ({ ...each, times_digest: 'ab'.repeat(32) })) },
    notSigned,
  ],
  [
    'what is beside the period replaced',
    { period: morning, hours: ({ path, shown }) => ({ shown, path: path.with(0, 'ab'.repeat(32)) }) },
    notSigned,
  ],
  [
    'a hash too many',
    { period: morning, hours: ({ path, shown }) => ({ shown, path: [...path, 'ab'.repeat(32)] }) },
    notSigned,
  ],
  [
    'the time of a call altered, so that it is not in the period',
    {
      period: cut,
      has: without(2),
      hours: at('09:00', (each) => ({ ...each, times: each.times?.with(2, Date.parse(clock('09:10'))) ?? [] })),
    },
    `log.hours.times: expected the times of the calls of the hour ${clock('09:00')}, found others`,
  ],
  [
    'the times of an hour that the period cuts left out',
    { period: cut, has: without(2), hours: at('09:00', ({ times: _, ...each }) => each) },
    `log.hours.times: expected the times of the calls of the hour ${clock('09:00')}, found others`,
  ],
  [
    'the hours as they were before',
    { has: without(8), hours: () => registerOf(created.slice(0, 8)).hours(whole) },
    notSigned,
  ],
  [
    'the hours of a pack that does not claim to be whole',
    { selection: { model: 'odd' }, has: (index) => receipts[index]?.model === 'odd' },
    'log.hours: expected no hours, since it is not of all receipts of a period',
  ],
  [
    'an archived month left out',
    { archived: false },
    'log.hours: expected each entry of the log in one hour, or an archived month',
  ],
  [
    'an entry that is signed to be of no hour',
    { has: without(5), said: moved(null) },
    'log.hours: expected each entry of the log in one hour, or an archived month',
  ],
  [
    'an entry that is signed to be of another hour',
    { has: without(5), said: moved('12:20') },
    lacks('5 to 7', '12:00').replace('5 to 7', '5 to 5'),
  ],
  [
    'the same, with its receipt',
    { said: moved('12:20') },
    'created_at: expected a call of the time that the log has for its entry 5',
  ],
  [
    'an entry that is signed to be of another minute',
    { period: { from: clock('10:10'), to: clock('10:50') }, said: moved('10:30') },
    'created_at: expected a call of the time that the log has for its entry 5',
  ],
  ['an entry that is signed to be of an hour to come', { period: toNow, has: without(5), said: inYear2100 }, isAhead],
  ['the same, in a pack of a day', { has: without(5), said: inYear2100 }, isAhead],
  [
    'the same, in a pack that reaches so far',
    { period: { ...toNow, to: '2101-01-01T00:00:00.000Z' }, has: without(5), said: inYear2100 },
    isAhead,
  ],
  [
    'an hour that begins at half past',
    { hours: at('12:00', (each) => ({ ...each, hour: clock('12:30') })), signsShown: true },
    notSigned,
  ],
];

describe('a signer with the key of the gateway is found out:', () => {
  test.each(tamperings)('%s', async (_, made, expected) => {
    const found = await verified(made);
    expect(found.signature).toBe('trusted');
    expect(told(found)).toContain(expected);
    expect(python(found.text).status).toBe(1);
  });

  test('a checkpoint that says nothing of the hours, or other hours, was not signed', async () => {
    const other = { hours_root: 'ab'.repeat(32) };
    expect(told(await verified({ checkpoint: other }))).toContain('log.checkpoint.signature');
    expect(told(await verified({ checkpoint: { hours_root: undefined } }))).toContain('log: expected a checkpoint');
  });

  test('hours that do not go on from those of a kept pack', async () => {
    const kept = JSON.parse(await packOf({ size: 6 }));
    expect(told(await verified({}, kept))).toBe('');
    expect(told(await verified({ period: morning }, kept))).toBe('');
    const found = told(await verified({ period: morning, has: without(5), said: moved('16:20') }, kept));
    expect(found).toContain(
      `log.hours: expected the entries [[4,2]] of the hour ${clock('10:00')}, as in the earlier pack, found [[4,1]]`,
    );
  });

  describe('a register that is signed anew at the same size', () => {
    const other: Made = { period: morning, has: without(5), said: moved('12:20') };
    const kept = async () => JSON.parse(await packOf({ period: { from: clock('14:00'), to: clock('15:00') } }));

    test('holds on its own, and not with a kept checkpoint, or a kept pack of another time', async () => {
      expect(told(await verified(other))).toBe('');
      for (const each of [(await kept()).log.checkpoint, await kept()]) {
        expect(told(await verified({ period: morning }, each))).toBe('');
        expect(told(await verified(other, each))).toMatch(
          /^log\.checkpoint\.hours_root: .*: the log tells two stories$/,
        );
      }
    });

    test('nor does a time that goes back, at any size', async () => {
      for (const each of [(await kept()).log.checkpoint, JSON.parse(await packOf({ size: 6 }))])
        expect(told(await verified({ period: morning, until: clock('14:00') }, each))).toBe(
          `log.checkpoint.complete_until: expected ${clock('15:00')} or later, as in the checkpoint of ${clock('15:15')}, found ${clock('14:00')}: the log tells two stories`,
        );
    });
  });
});
