/** Packages at pinned versions are installed once, also if several processes ask at the same time. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inCheckout } from './checkout.ts';
import { nodeWith } from './environments.ts';

const about = { name: 'nothing', version: '1.0.0' };
let pinned: string;
let name: string;

beforeEach(() => {
  pinned = mkdtempSync(join(tmpdir(), 'gw-environment-'));
  name = basename(pinned);
  const lock = { ...about, lockfileVersion: 3, packages: { '': about } };
  writeFileSync(join(pinned, 'package-lock.json'), JSON.stringify(lock));
});

afterEach(() => {
  const made = inCheckout('.deps', `node-${name}`);
  for (const path of [pinned, made, `${made}.lock`]) rmSync(path, { recursive: true, force: true });
});

test('of several that want the same packages at once, one installs them', async () => {
  writeFileSync(join(pinned, 'package.json'), JSON.stringify(about));
  const lines: string[] = [];
  const dirs = await Promise.all([1, 2, 3].map(() => nodeWith(name, pinned, (line) => lines.push(line))));
  expect(new Set(dirs)).toEqual(new Set([inCheckout('.deps', `node-${name}`)]));
  expect(lines).toEqual([
    `Installing the Node packages (${name})…`,
    expect.stringMatching(/^Installing the Node packages \(.*\)… \d+ s$/),
  ]);
});

test('those that wait begin again what somebody could not install', async () => {
  writeFileSync(join(pinned, 'package.json'), '{');
  const lines: string[] = [];
  const all = await Promise.allSettled([1, 2].map(() => nodeWith(name, pinned, (line) => lines.push(line))));
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(lines).toHaveLength(2);
});

test.each([
  ['has died', () => String(spawnSync(process.execPath, ['--version']).pid), 0],
  // Its number may be that of another process by now.
  ['began an hour ago', () => String(process.pid), 3600],
])('a lock is not held by somebody who %s', async (_, holder, ageS) => {
  writeFileSync(join(pinned, 'package.json'), JSON.stringify(about));
  const file = inCheckout('.deps', `node-${name}.lock`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, holder());
  utimesSync(file, new Date(), new Date(Date.now() - ageS * 1000));
  await nodeWith(name, pinned, () => undefined);
  expect(existsSync(file)).toBe(false);
});
