import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openSpool, recordOf, type Spool } from './spool.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gwspool-'));
  file = join(folder, 'host.spool');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const entries = (count: number) => Array.from({ length: count }, (_, n) => Buffer.from(`${n} ${'x'.repeat(2000)}`));
const nothing = Buffer.alloc(0);

/** Reads the damaged lines that were kept. */
function damaged(): Buffer {
  const [name, ...more] = readdirSync(folder).filter((each) => each.endsWith('.damaged'));
  expect(more).toEqual([]);
  return readFileSync(join(folder, name ?? ''));
}

async function all(spool: Spool): Promise<Buffer[]> {
  const taken: Buffer[] = [];
  await spool.replay(async (some) => void taken.push(...some));
  return taken;
}

test('entries come back whole and in order, even when many are written at once and by a process before', async () => {
  const before = await openSpool(folder, 'host');
  const all = entries(300);
  await Promise.all(all.slice(0, 200).map((entry) => before.append(entry)));
  const spool = await openSpool(folder, 'host');
  await Promise.all(all.slice(200).map((entry) => spool.append(entry)));
  const taken: Buffer[] = [];
  expect(await spool.replay(async (some) => void taken.push(...some))).toBe(300);
  expect(taken).toEqual(all);
  expect(readdirSync(folder)).toEqual([]);
});

test('what a process of another name has left is taken over, and the room that it held is given back', async () => {
  const before = await openSpool(folder, 'container-1', { reserveBytes: 1000 });
  const left = entries(3);
  for (const entry of left) await before.append(entry);
  await vi.waitFor(() => expect(existsSync(join(folder, 'container-1.reserve'))).toBe(true));
  const spool = await openSpool(folder, 'container-2');
  expect(await all(spool)).toEqual(left);
  expect(readdirSync(folder)).toEqual([]);
});

test('a line that is no entry is damaged, and holds up no other', async () => {
  const [good = nothing] = entries(1);
  const spool = await openSpool(folder, 'host');
  await spool.append(good);
  const wrong = recordOf(good);
  for (const line of ['0', '2:', '2:deadbeef:', wrong.replace(/^2:.{8}/, '2:deadbeef'), wrong.replace(':', ':!')])
    appendFileSync(file, `${line}\n`);
  expect(await all(spool)).toEqual([good]);
  expect(damaged().toString().trim().split('\n')).toHaveLength(5);
});

test('what could not be handed over stays, and what comes meanwhile follows it', async () => {
  const spool = await openSpool(folder, 'host');
  const [first = nothing, second = nothing] = entries(2);
  await spool.append(first);
  await expect(spool.replay(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
  await spool.append(second);
  const taken: Buffer[] = [];
  expect(await spool.replay(async (some) => void taken.push(...some))).toBe(2);
  expect(taken).toEqual([first, second]);
  expect(await spool.replay(async () => {})).toBe(0);
});

test.each(['2:dead', recordOf(Buffer.from('some bytes')).slice(0, -5)])(
  'a line that a killed process left unfinished is set aside, and those before and after it come back: %s',
  async (cut) => {
    const [before = nothing, after = nothing] = entries(2);
    await (await openSpool(folder, 'host')).append(before);
    appendFileSync(file, cut);
    const told: unknown[] = [];
    const spool = await openSpool(folder, 'host', { onDamaged: (...what) => told.push(what) });
    await spool.append(after);
    expect(await all(spool)).toEqual([before, after]);
    expect(told).toEqual([[1, expect.stringMatching(/\.damaged$/)]]);
    expect(damaged().toString()).toBe(`${cut}\n`);
  },
);

test('all that wait at one time share one write and its sync', async () => {
  const write = vi.fn(async () => undefined);
  const spool = await openSpool(folder, 'host', { write });
  await Promise.all(entries(200).map((entry) => spool.append(entry)));
  expect(write.mock.calls.length).toBeLessThanOrEqual(2);
});

test('a record that the disk has changed is kept for a human, byte by byte, and those around it come back in order', async () => {
  const [before = nothing, changed = nothing, after = nothing] = entries(3);
  const spool = await openSpool(folder, 'host');
  for (const entry of [before, changed, after]) await spool.append(entry);
  const bytes = readFileSync(file);
  // Another letter, of base64 as good as the one before; and a byte that no text has.
  const at = bytes.indexOf('\n') + 40;
  bytes[at] = bytes[at] === 0x41 ? 0x42 : 0x41;
  bytes[at + 100] = 0xff;
  writeFileSync(file, bytes);
  expect(await all(await openSpool(folder, 'host'))).toEqual([before, after]);
  expect(damaged()).toEqual(bytes.subarray(bytes.indexOf('\n') + 1, bytes.lastIndexOf('\n', -2) + 1));
});

test('a record of a form that only a later release knows is kept', async () => {
  const [entry = nothing] = entries(1);
  const later = recordOf(entry).replace(/^2/, '3');
  writeFileSync(file, `${later}\n`);
  expect(await all(await openSpool(folder, 'host'))).toEqual([]);
  expect(damaged().toString()).toBe(`${later}\n`);
});

test('a long outage makes many files, of which each leaves as soon as it was taken', async () => {
  const spool = await openSpool(folder, 'host');
  const large = Array.from({ length: 12 }, (_, n) => Buffer.from(`${n}${'x'.repeat(4_000_000)}`));
  for (const entry of large) await spool.append(entry);
  const taken: Buffer[] = [];
  const once = async (some: readonly Buffer[]): Promise<void> => {
    if (taken.length > 0) throw new Error('away');
    taken.push(...some);
  };
  await expect(spool.replay(once)).rejects.toThrow('away');
  expect(taken.length).toBeLessThan(large.length);
  // Compared as bytes, since a comparison of elements takes a minute.
  expect(Buffer.concat([...taken, ...(await all(spool))]).equals(Buffer.concat(large))).toBe(true);
});

describe('a full disk', () => {
  const mebibyte = 1024 * 1024;
  const reserve = () => join(folder, 'host.reserve');
  /** A disk that has room for as much as the reserve takes, and takes half a line before it is full. */
  const write = async (to: string, text: string): Promise<void> => {
    if (existsSync(reserve())) {
      appendFileSync(to, text.slice(0, text.length / 2));
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    }
    appendFileSync(to, text);
  };
  const reserved = () => vi.waitUntil(() => existsSync(reserve()), { timeout: 15_000 });

  test('gives back what was reserved, so receipts still find room; it is reserved again once they are home', async () => {
    const spool = await openSpool(folder, 'host', { reserveBytes: mebibyte, write });
    await reserved();
    expect(statSync(reserve()).size).toBe(mebibyte);
    const some = entries(5);
    await Promise.all(some.map((entry) => spool.append(entry)));
    expect(existsSync(reserve())).toBe(false);
    // The lines that the full disk took come twice.
    expect([...new Set((await all(spool)).map(String))]).toEqual(some.map(String));
    await reserved();
  });

  test('without a reserve it refuses, and goes on as soon as it has room', async () => {
    let full = true;
    const spool = await openSpool(folder, 'host', {
      write: (to, text) => (full ? Promise.reject(Object.assign(new Error(), { code: 'ENOSPC' })) : write(to, text)),
    });
    const [lost = nothing, kept = nothing] = entries(2);
    await expect(spool.append(lost)).rejects.toMatchObject({ code: 'ENOSPC' });
    full = false;
    await spool.append(kept);
    expect(await all(spool)).toEqual([kept]);
  });
});
