import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { compileReplyEnd, compilerOf, replyEnd } from './reply-end.mjs';

const dir = mkdtempSync(join(tmpdir(), 'gw-reply-end-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('the compiler is the first on PATH', () => {
  const [empty, full] = ['empty', 'full'].map((name) => join(dir, name)) as [string, string];
  for (const folder of [empty, full]) mkdirSync(folder);
  expect(compilerOf(undefined)).toBeNull();
  expect(compilerOf(empty)).toBeNull();
  writeFileSync(join(full, 'cc'), '');
  expect(compilerOf(`${empty}:${full}`)).toBe(process.platform === 'linux' ? join(full, 'cc') : null);
});

test.each([
  ['there is no compiler', null],
  ['it fails', '/bin/false'],
])('the module is an empty file, which Envoy does without, where %s', async (_, compiler) => {
  const module = join(dir, 'generated', 'reply-end.so');
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  await compileReplyEnd(compiler, { ...replyEnd, module });
  expect(said.mock.calls.join('')).toContain('Streams whose provider stays open behind their end are broken off.');
  said.mockRestore();
  expect(existsSync(module) && statSync(module).size).toBe(0);
  expect(readdirSync(join(dir, 'generated'))).toEqual(['reply-end.so']);
});
