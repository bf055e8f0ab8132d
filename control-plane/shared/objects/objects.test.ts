/** Both stores of objects, a directory and a bucket of a real server, keep the same promises. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings } from '@gw/contract/internal/environment';
import { startBucket, type TestBucket } from '@gw/testing/control-plane/s3-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readObjects } from './config.ts';
import { type ObjectStore, ObjectsUnavailableError } from './objects.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-objects-'));
let bucket: TestBucket;
beforeAll(async () => {
  bucket = await startBucket();
});
afterAll(async () => {
  await bucket.stop();
  rmSync(dir, { recursive: true, force: true });
});

function open(environment: Readonly<Record<string, string>>): ObjectStore {
  const settings = readSettings(environment);
  const objects = readObjects(settings);
  settings.finish();
  return objects;
}
const stores: [string, () => Readonly<Record<string, string>>][] = [
  ['a directory', () => ({ GW_OBJECTS_DIR: dir })],
  ['a bucket', () => bucket.settings],
];

describe.each(stores)('%s', (_, settings) => {
  test('gives back what was put, in its last form, and says what it does not have', async () => {
    const objects = open(settings());
    const large = Buffer.alloc(3_000_000, 'x');
    expect(await objects.get('a/b-1.jsonl.gz')).toBe(null);
    await objects.put('a/b-1.jsonl.gz', Buffer.from('first'));
    await objects.put('a/b-1.jsonl.gz', large);
    expect((await objects.get('a/b-1.jsonl.gz'))?.equals(large)).toBe(true);
    await objects.put('empty', Buffer.alloc(0));
    expect(await objects.get('empty')).toEqual(Buffer.alloc(0));
    await objects.remove('a/b-1.jsonl.gz');
    await objects.remove('a/b-1.jsonl.gz');
    expect(await objects.get('a/b-1.jsonl.gz')).toBe(null);
  });

  test('takes no name that leads elsewhere', async () => {
    const objects = open(settings());
    for (const name of ['../x', '/x', 'a/../x', 'a//b', '', 'A', 'a b', 'a/.x'])
      await expect(objects.get(name), name).rejects.toThrow('no name of an object');
  });
});

test('a directory or a bucket that is away is no object that is missing', async () => {
  const file = join(dir, 'file');
  writeFileSync(file, '');
  const wrong = { ...bucket.settings, GW_OBJECTS_ACCESS_KEY: 'other' };
  const nowhere = { ...bucket.settings, GW_OBJECTS_URL: 'http://127.0.0.1:1' };
  const noBucket = { ...bucket.settings, GW_OBJECTS_BUCKET: 'gw-other' };
  for (const settings of [
    { GW_OBJECTS_DIR: join(dir, 'gone') },
    { GW_OBJECTS_DIR: file },
    {},
    wrong,
    nowhere,
    noBucket,
  ]) {
    const objects = open(settings);
    await expect(objects.get('x'), JSON.stringify(settings)).rejects.toThrow(ObjectsUnavailableError);
  }
});

test('what a crash left half written is no object', async () => {
  const objects = open({ GW_OBJECTS_DIR: dir });
  await objects.put('half/x', Buffer.from('whole'));
  expect(readdirSync(join(dir, 'half'))).toEqual(['x']);
});

test('what a process that was killed left half written is removed, and what another one writes now is not', async () => {
  const drafts = join(dir, '.drafts');
  mkdirSync(drafts, { recursive: true });
  for (const name of ['left', 'under-way']) writeFileSync(join(drafts, name), 'half');
  const before = Date.now() / 1000 - 2 * 3600;
  utimesSync(join(drafts, 'left'), before, before);
  await open({ GW_OBJECTS_DIR: dir }).put('tidy/x', Buffer.from('whole'));
  expect(readdirSync(drafts)).toEqual(['under-way']);
});

test('settings that name two stores, or half of one, are refused by name and without the secret', () => {
  expect(() => open({ ...bucket.settings, GW_OBJECTS_DIR: dir })).toThrow('both set');
  expect(() => open({ GW_OBJECTS_URL: 'http://s3/path', GW_OBJECTS_SECRET_KEY: 'a secret of mine' })).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('a secret of mine') }),
  );
});
