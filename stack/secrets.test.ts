import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadSecrets } from './secrets.ts';

const dir = mkdtempSync(join(tmpdir(), 'gwse-'));
const file = join(dir, 'secrets.json');
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('secrets are made once, for their owner alone, and kept', () => {
  const made = loadSecrets(dir);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(loadSecrets(dir)).toEqual(made);
  expect(new Set(Object.values(made)).size).toBe(15);
});

test('what is missing is added, and the pepper stays', () => {
  const old = { pepper: 'a'.repeat(64), internalToken: 'b'.repeat(64), operatorToken: 'c'.repeat(64) };
  writeFileSync(file, JSON.stringify(old));
  const now = loadSecrets(dir);
  expect(now).toMatchObject({ pepper: old.pepper, internalToken: old.internalToken });
  expect(now.ledgerKey).toMatch(/^[0-9a-f]{64}$/);
  expect(now.operatorToken).toMatch(/^gwop_[\w-]{43}$/);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(now);
});
