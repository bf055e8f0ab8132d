import { Worker } from 'node:worker_threads';
import { argon2id } from 'hash-wasm';
import { expect, test } from 'vitest';
import { generateCredential, openCredentials } from './credential.ts';
import { Hasher } from './hasher.ts';

const right = 'correct horse battery staple';
const cheap = { memorySize: 64, iterations: 1, parallelism: 1 };

test('a credential verifies against its own hash alone, and the hash says its cost', async () => {
  const credentials = openCredentials();
  const stored = await credentials.hash(right);
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/);
  expect(await credentials.verify(stored, right)).toBe('right');
  expect(await credentials.verify(stored, `${right} `)).toBe('wrong');
  expect(await credentials.verify(null, right)).toBe('wrong');
  expect(await credentials.hash(right)).not.toBe(stored);
});

test('a right credential that was hashed at another cost is told, so that it can be hashed again', async () => {
  const salt = new Uint8Array(16);
  const stored = await argon2id({ ...cheap, hashLength: 32, salt, password: right, outputType: 'encoded' });
  expect(await openCredentials().verify(stored, right)).toBe('outdated');
  expect(await openCredentials().verify(stored, 'wrong')).toBe('wrong');
});

test('a flood is turned away after 16 that wait, and those are still answered', async () => {
  const credentials = openCredentials(cheap);
  const verdicts = await Promise.all(Array.from({ length: 40 }, () => credentials.verify(null, 'x')));
  expect(verdicts.filter((verdict) => verdict === 'busy')).toHaveLength(24);
  expect(await credentials.verify(null, 'x')).toBe('wrong');
});

test('whoever is known has places of his own in a flood of strangers, and is heard before them', async () => {
  const credentials = openCredentials(cheap);
  const heard: string[] = [];
  const strangers = Array.from({ length: 30 }, async () => {
    if ((await credentials.verify(null, 'x')) !== 'busy') heard.push('stranger');
  });
  const known = credentials.verify(null, 'x', 'known').then(() => heard.push('known'));
  await Promise.all([...strangers, known]);
  // The first of the strangers was being computed already.
  expect(heard.slice(0, 3)).toEqual(['stranger', 'known', 'stranger']);
  expect(heard).toHaveLength(17);
});

test('the event loop turns while a hash is computed', async () => {
  const credentials = openCredentials();
  await credentials.hash(right);
  let turns = 0;
  let done = false;
  const hashed = credentials.hash(right).finally(() => {
    done = true;
  });
  while (!done) {
    turns += 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  await hashed;
  expect(turns).toBeGreaterThan(50);
});

test('when the thread dies its job fails, and the next one is computed by a new one', async () => {
  const started: Worker[] = [];
  const start = () => {
    const worker = new Worker(new URL('./hash-worker.js', import.meta.url));
    started.push(worker);
    return worker;
  };
  const credentials = openCredentials(cheap, new Hasher(start));
  const doomed = credentials.hash(right);
  await started[0]?.terminate();
  await expect(doomed).rejects.toThrow('has ended');
  expect(await credentials.verify(await credentials.hash(right), right)).toBe('right');
  expect(started).toHaveLength(2);
});

test('a stored hash that is none is a fault, and the next one is judged', async () => {
  const credentials = openCredentials(cheap);
  await expect(credentials.verify('no hash', right)).rejects.toThrow();
  expect(await credentials.verify(null, right)).toBe('wrong');
});

test('generated credentials carry 144 bits and are never the same', () => {
  const made = new Set(Array.from({ length: 100 }, generateCredential));
  expect(made.size).toBe(100);
  for (const credential of made) expect(credential).toMatch(/^([0-9a-f]{6}-){5}[0-9a-f]{6}$/);
});

test('those who get a credential have 16 places, behind a login that is known and before strangers', async () => {
  const credentials = openCredentials(cheap);
  const heard: string[] = [];
  const note = (what: string) => (result: unknown) => void (result !== null && heard.push(what));
  const stranger = credentials.verify(null, 'x').then(note('stranger'));
  const second = credentials.verify(null, 'x').then(note('stranger'));
  const issued = Array.from({ length: 30 }, () => credentials.issue().then(note('issued')));
  const known = credentials.verify(null, 'x', 'known').then(note('known'));
  await Promise.all([stranger, second, ...issued, known]);
  expect(heard).toEqual(['stranger', 'known', ...Array(16).fill('issued'), 'stranger']);
  const made = await credentials.issue();
  expect(await credentials.verify(made?.credentialHash ?? null, made?.credential ?? '')).toBe('right');
});
