import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSpool } from './spool.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gwspool-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const entries = (count: number) =>
  Array.from({ length: count }, (_, n) => JSON.stringify({ n, text: 'x'.repeat(2000) }));

test('entries come back whole and in order, even when many are written at once and by a process before', async () => {
  const before = await openSpool(folder, 'host');
  const all = entries(300);
  await Promise.all(all.slice(0, 200).map((entry) => before.append(entry)));
  const spool = await openSpool(folder, 'host');
  await Promise.all(all.slice(200).map((entry) => spool.append(entry)));
  const taken: string[] = [];
  expect(await spool.replay(async (some) => void taken.push(...some))).toBe(300);
  expect(taken).toEqual(all);
  expect(readdirSync(folder)).toEqual([]);
});

test('what could not be handed over stays, and what comes meanwhile follows it', async () => {
  const spool = await openSpool(folder, 'host');
  const [first = '', second = ''] = entries(2);
  await spool.append(first);
  await expect(spool.replay(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
  await spool.append(second);
  const taken: string[] = [];
  expect(await spool.replay(async (some) => void taken.push(...some))).toBe(2);
  expect(taken).toEqual([first, second]);
  expect(await spool.replay(async () => {})).toBe(0);
});

test.each(['{"n":1,"text":"xx', '{"n":1,"text":{}'])(
  'a line that a killed process left unfinished is passed over, and those before and after it are not: %s',
  async (cut) => {
    const [before = '', after = ''] = entries(2);
    await (await openSpool(folder, 'host')).append(before);
    appendFileSync(join(folder, 'host.jsonl'), cut);
    const spool = await openSpool(folder, 'host');
    await spool.append(after);
    const taken: string[] = [];
    await spool.replay(async (some) => void taken.push(...some));
    expect(taken).toEqual([before, after]);
  },
);
