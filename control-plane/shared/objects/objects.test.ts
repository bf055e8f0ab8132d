/** Both stores of objects, a directory and a bucket of a real server, keep the same promises. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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

  test('lists what is in a folder, folder by folder, and nothing once it is removed', async () => {
    const objects = open(settings());
    const names = async (folder: string) => {
      const found: string[] = [];
      for await (const name of objects.list(folder)) found.push(name);
      return found.toSorted();
    };
    expect(await names('folder')).toEqual([]);
    const many = Array.from({ length: 5 }, (_, n) => `many-${n}`);
    const all = [
      ...many.map((name) => `folder/${name}`),
      'folder/one/a.gz',
      'folder/one/b',
      'folder/two/c',
      'folderx/z',
    ];
    for (const name of all) await objects.put(name, Buffer.from('x'));
    expect(await names('folder')).toEqual([...many, 'one', 'two']);
    expect(await names('folder/one')).toEqual(['a.gz', 'b']);
    for (const name of all) await objects.remove(name);
    expect(await names('folder')).toEqual([]);
  });

  test('reads no more of an object than a reader allows, and one byte that tells', async () => {
    const objects = open(settings());
    await objects.put('long', Buffer.alloc(3_000_000, 'x'));
    expect((await objects.get('long', 3_000_000))?.length).toBe(3_000_000);
    expect((await objects.get('long', 2_000_000))?.length).toBe(2_000_001);
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
  for (const settings of [{ GW_OBJECTS_DIR: join(dir, 'gone') }, { GW_OBJECTS_DIR: file }, wrong, nowhere, noBucket]) {
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

test('a list of a bucket goes on from page to page, and leaves out what has no name of ours', async () => {
  const asked: (string | null)[] = [];
  const pages = [
    ['<IsTruncated>true</IsTruncated><NextContinuationToken>1/a&amp;b=+</NextContinuationToken>', 'x/b', 'x/UPPER'],
    ['<IsTruncated>false</IsTruncated>', 'x/c'],
  ];
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '', 'http://s3').searchParams;
    asked.push(query.get('continuation-token'));
    const [end, ...keys] = pages[asked.length - 1] ?? [];
    const contents = keys.map((name) => `<Contents><Key>${name}</Key></Contents>`).join('');
    const folders = `<CommonPrefixes><Prefix>x/folder-${asked.length}/</Prefix></CommonPrefixes>`;
    response.end(`<ListBucketResult><Prefix>x/</Prefix>${contents}${folders}${end}</ListBucketResult>`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const names: string[] = [];
  for await (const name of open({ ...bucket.settings, GW_OBJECTS_URL: `http://127.0.0.1:${port}` }).list('x'))
    names.push(name);
  server.close();
  expect(names).toEqual(['b', 'folder-1', 'c', 'folder-2']);
  expect(asked).toEqual([null, '1/a&b=+']);
});

test('settings that name no store, two, or half of one, are refused by name and without the secret', () => {
  expect(() => open({})).toThrow('GW_OBJECTS_DIR is not set, nor GW_OBJECTS_URL');
  expect(() => open({ ...bucket.settings, GW_OBJECTS_DIR: dir })).toThrow('both set');
  expect(() => open({ GW_OBJECTS_URL: 'http://s3/path', GW_OBJECTS_SECRET_KEY: 'a secret of mine' })).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('a secret of mine') }),
  );
});
