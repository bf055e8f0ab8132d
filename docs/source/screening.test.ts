/** The statements of docs/use-policy.md about rules and hashes are true. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { screenedSha256 } from '@gw/contract/internal/policy-event';
import { maxPatterns, maxPhrases, maxRules } from '@gw/contract/internal/policy-rules';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { screenedEntry } from './screening.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/use-policy.md'), 'utf8');
const python = (...args: string[]) =>
  execFileSync('python3', ['docs/examples/policy_hash.py', ...args], { cwd: root, encoding: 'utf8' }).trim();

it('the command of the page gives the hash that its entry shows', () => {
  const [, file = '', salt = ''] = /^python3 docs\/examples\/policy_hash\.py (\S+) (\S+)$/m.exec(page) ?? [];
  expect(screenedEntry()).toMatchObject({ after: { calls: [{ text_salt: salt, text_sha256: python(file, salt) }] } });
  expect(page).toContain(python(file, salt));
});

it('the script of the page hashes any request as the gateway does', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-policy-hash-'));
  const numbers = [0, -0, 1, -1.5, 0.1, 1e21, 1e20, 1e-6, 1e-7, 123456789012345680000, 5e-324, 1.7976931348623157e308];
  const values = fc.sample(fc.jsonValue({ depthSize: 'small' }), 60);
  const body = {
    gw: { tier: 'auto' },
    extra_body: {},
    model: 'm',
    '\u{1F512}é\ufffd': 'ä\u2028"\\/\u007f\n',
    numbers,
    values,
  };
  const file = join(folder, 'request.json');
  writeFileSync(file, JSON.stringify(body));
  const salt = 'ff'.repeat(16);
  expect(python(file, salt)).toBe(screenedSha256(Buffer.from(salt, 'hex'), body));
  rmSync(folder, { recursive: true });
});

it('the bounds on the page are those of the schema', () => {
  const bounds = [`${maxRules} rules`, `${maxPhrases.toLocaleString('en')} phrases`, `${maxPatterns} patterns`];
  for (const bound of bounds) expect(page).toContain(bound);
});
