/** Signed notes, against the examples of the specifications and what nobody would write. */
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkCheckpoint, checkpointIn, logKey, logOrigin, noteText, signedCheckpoint } from './checkpoint.ts';
import { keyIdOf, linesBy, noteKeyIn, noteLinesIn, signatureFits, vkeyOf } from './note.ts';

test('the example of the specification of signed notes is read', async () => {
  const key = noteKeyIn('example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k') ?? expect.fail();
  const signature = 'Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=';
  const [line, ...others] = linesBy(noteLinesIn(`— example.com/foo ${signature}\n`) ?? [], key);
  expect(others).toEqual([]);
  const text = 'This is an example message.\n';
  expect(await signatureFits(text, line ?? expect.fail(), key)).toBe(true);
  expect(await signatureFits(`${text}\n`, line ?? expect.fail(), key)).toBe(false);
  expect(vkeyOf(key)).toBe('example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k');
});

test('the lines of the specification of checkpoints are read, and no others', () => {
  const lines = [
    '— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=',
    '— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==',
  ];
  expect(
    noteLinesIn(`${lines.join('\n')}\n`)?.map(({ keyId, name, signature }) => [name, keyId, signature.length]),
  ).toEqual([
    ['example.com/behind-the-sofa', '033de0ae', 64],
    ['witness.example.com/w1', '8d66cf3f', 72],
  ]);
  const [line = ''] = lines;
  for (const other of [
    '',
    line,
    `${line}\n\n`,
    `${line}\r\n`,
    ` ${line}\n`,
    `${line} x\n`,
    `${line.replace('—', '-')}\n`,
  ])
    expect(noteLinesIn(other), JSON.stringify(other)).toBeNull();
  // Other characters that stand for the same bytes, and too many lines.
  for (const other of [`${line.replace('8=', '9=')}\n`, `${line.slice(0, -1)}\n`, `${line}\n`.repeat(101)])
    expect(noteLinesIn(other)).toBeNull();
});

test('a vkey with another key id, name, length or type is none', () => {
  const key = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
  for (const [was, is] of [
    ['530d903a', '530d903b'],
    ['foo', 'fo o'],
    ['example.com/foo', ''],
    ['AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k', 'AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3Q=='],
    ['+Aeky', '+Beky'],
  ] as const)
    expect(noteKeyIn(key.replace(was, is)), is).toBeNull();
});

const key = signingKeyOf('01'.repeat(32));
const trust = { thumbprint: key.publicJwk.kid };
const at = new Date('2026-11-21T09:00:00Z');
const made = () =>
  signedCheckpoint(
    {
      account: 'acct_1',
      baseUrl: 'https://gw.example/eu',
      size: 7,
      root: 'ab'.repeat(32),
      hoursRoot: 'cd'.repeat(32),
      completeUntil: at,
      issued: at,
    },
    key,
  );

test('a checkpoint is a signed note of its log, whose key a witness can be given', async () => {
  const checkpoint = await made();
  const origin = 'gw.example/eu/receipts/acct_1';
  const own = logKey(checkpoint, key.publicJwk);
  const text = `${origin}\n7\nq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=\ncomplete_until 2026-11-21T09:00:00.000Z\nhours_root ${'cd'.repeat(32)}\nissued 2026-11-21T09:00:00.000Z\n`;
  expect(noteText(checkpoint)).toBe(text);
  expect(checkpoint.note).toMatch(new RegExp(`^${text}\n— ${origin} [A-Za-z0-9+/=]+\n$`));
  expect(vkeyOf(own)).toMatch(new RegExp(`^${origin}\\+${keyIdOf(own)}\\+AY`));
  expect(await checkCheckpoint(checkpoint, trust)).toBe('trusted');
  expect(await checkCheckpoint(checkpoint, {})).toBe('unauthenticated');
  expect(await checkCheckpoint(checkpoint, { keys: [] })).toBe('unknown_key');
});

test('no base URL and no account makes an origin that a note cannot have', () => {
  expect(logOrigin('http://127.0.0.1:8080', 'acct_1')).toBe('127.0.0.1:8080/receipts/acct_1');
  expect(logOrigin('https://gw.example/a+b c/', 'a +/\n')).toBe('gw.example/a%2Bb%20c/receipts/a%20%2B%2F%0A');
});

test('lines of others beside that of the log change nothing, and a line of the log that does not fit does', async () => {
  const checkpoint = await made();
  const { note } = checkpoint;
  const other = noteLinesIn(note.slice(noteText(checkpoint).length + 1));
  expect(other).toHaveLength(1);
  const foreign =
    '— witness.example/w1 CMp+6LWBU0anHGH5aNDTJkH/gj79sG+T6+iP2ThYN5krrDJbR1HDnucjL39QsZTSvVjyQLrdk3DXDqI5G2HgLatVs0pWh6Up69HVOw==\n';
  expect(await checkCheckpoint({ ...checkpoint, note: note + foreign }, trust)).toBe('trusted');
  const broken = note.slice(noteText(checkpoint).length + 1).replace(/ ([\w+/]{20})[\w+/]{4}/, ' $1AAAA');
  for (const said of [note + broken, noteText(checkpoint), `${noteText(checkpoint)}\n`, `${note}x`, `x${note}`])
    expect(await checkCheckpoint({ ...checkpoint, note: said }, trust)).toBe('invalid');
  expect(await checkCheckpoint({ ...checkpoint, note: `${noteText(checkpoint)}\n${foreign}` }, trust)).toBe('invalid');
});

test('whatever is changed in a checkpoint, it is none or does not hold', async () => {
  const checkpoint = await made();
  for (const name of Object.keys(checkpoint))
    for (const value of [
      undefined,
      null,
      7,
      8,
      'x',
      '',
      'acct_2',
      '2026-11-21T10:00:00.000Z',
      [],
      { ...key.publicJwk, d: 1 },
    ]) {
      const altered = checkpointIn({ ...checkpoint, [name]: value });
      if (value !== Reflect.get(checkpoint, name))
        expect(altered && (await checkCheckpoint(altered, trust)), `${name} ${value}`).not.toBe('trusted');
    }
  expect(checkpointIn({ ...checkpoint, more: 1 })).toBeNull();
  expect(checkpointIn({ ...checkpoint, issued: '2026-11-21T09:00:00Z' })).toBeNull();
  expect(checkpointIn({ ...checkpoint, account: '\ud800' })).toBeNull();
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: checkpoint.note.length - 1 }),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      async (place, to) => {
        fc.pre(to !== checkpoint.note[place]);
        const note = checkpoint.note.slice(0, place) + to + checkpoint.note.slice(place + 1);
        expect(await checkCheckpoint({ ...checkpoint, note }, trust)).toBe('invalid');
      },
    ),
    { numRuns: cases(1000, 100) },
  );
});
