/** No code in the documentation that nothing runs: a block is settings that the services accept, or it is listed here. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { readSettings } from '@gw/contract/internal/environment';
import { readScreeningSettings } from '@gw/control-plane/internals/customers/screening/config';
import { readGpuSettings } from '@gw/control-plane/internals/ledger/gpu/config';
import { readGridSettings } from '@gw/control-plane/internals/ledger/grid/config';
import { describe, expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const docs = readdirSync(new URL('docs', root), { recursive: true, encoding: 'utf8' });
const own = ['README', 'methodologies', 'worked-example'].map((name) => `methodology/${name}.md`);
const pages = ['README.md', 'ARCHITECTURE.md', ...own].concat(
  docs.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`),
);

/** How each block begins, and the test that runs it. */
const run: Readonly<Record<string, string>> = {
  './gw admin providers add ': 'test/catalogue/life.slow.test.ts',
  './gw admin deployments set ': 'control-plane/catalogue/admin-commands.pg.test.ts',
  './gw admin aliases ': 'test/catalogue/alias.test.ts',
  './gw admin catalogue ': 'test/catalogue/in-git.test.ts',
  './gw admin doctor ': 'control-plane/times/witnessed-times.pg.test.ts',
  './gw admin secrets': 'control-plane/secrets/secrets.pg.test.ts',
  './gw admin policy ': 'test/policy/story.slow.test.ts',
  './gw up ': 'test/cli/commands.test.ts',
  'pg_dump ': 'test/long/restore.test.ts',
  'export GW_KEY=': 'test/cli/readme.test.ts',
  "import OpenAI from 'openai'": 'test/cli/readme.test.ts',
  'import os\nfrom openai import OpenAI': 'test/cli/readme.test.ts',
  '// npm install ': 'test/long/frameworks.test.ts',
  '# pip install ': 'test/long/frameworks.test.ts',
  "import { assess, type CallFacts } from '@gw/methodology/assess'": 'methodology/package.test.ts',
  'psql -At -c "SELECT encode(compressed': 'docs/source/row-size.pg.test.ts',
  '# row.py: ': 'docs/source/row-size.pg.test.ts',
  'python3 docs/examples/policy_hash.py ': 'docs/source/screening.test.ts',
  'python3 docs/examples/recompute.py docs': 'docs/source/recompute.test.ts',
  "import { createHmac, timingSafeEqual } from 'node:crypto'":
    'control-plane/ledger/budgets/webhooks/webhooks.pg.test.ts',
  "import { readFileSync } from 'node:fs'": 'docs/source/recompute.test.ts',
  'curl -sS -H "Authorization: Bearer $GW_KEY" -H \'Content-Type: application/json\'': 'test/evidence/pack.test.ts',
  'at=http://127.0.0.1:8080$(curl ': 'test/evidence/pack.test.ts',
  'curl -sS -H "Authorization: Bearer $GW_KEY" "http://127.0.0.1:8080/v1/usage': 'test/evidence/reporting.test.ts',
  'curl -sS -H "Authorization: Bearer $GW_KEY" "http://127.0.0.1:8080/v1/gw/lineage/': 'test/docs/examples.test.ts',
  'curl -sS -H "Authorization: Bearer $GW_KEY" "http://127.0.0.1:8080/v1/gw/methodology/': 'test/docs/examples.test.ts',
};

const blocks = pages.flatMap((page) => {
  const text = readFileSync(new URL(page, root), 'utf8');
  return [...text.matchAll(/^```(sh|bash|js|ts|python|py)\n([\s\S]*?)^```/gm)].map(([, language = '', code = '']) => ({
    page,
    language,
    code,
  }));
});
const isSettings = (code: string): boolean => code.startsWith('GW_');
const settings = blocks.filter(({ code }) => isSettings(code));

it('every block of code is run by a test', () => {
  const beginnings = Object.keys(run);
  const others = blocks.filter(({ code }) => !isSettings(code));
  expect(others.filter(({ code }) => !beginnings.some((beginning) => code.startsWith(beginning)))).toEqual([]);
  expect(beginnings.filter((beginning) => !others.some(({ code }) => code.startsWith(beginning)))).toEqual([]);
  for (const file of new Set(Object.values(run)))
    expect(readFileSync(new URL(file, root), 'utf8')).toContain('expect(');
});

/** The whole complaint about an environment. */
function complaint(environment: Readonly<Record<string, string>>): string {
  const reader = readSettings(environment);
  readGridSettings(reader);
  readGpuSettings(reader);
  readScreeningSettings(reader);
  try {
    reader.finish();
    return '';
  } catch (error) {
    return String(error);
  }
}

/** As a shell reads them. */
function environmentOf(code: string): Record<string, string> {
  const output = execFileSync('sh', ['-c', `set -a\n${code}\nenv -0`], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  });
  const entries = output
    .split('\0')
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
  return Object.fromEntries(entries.filter(([name = '']) => name.startsWith('GW_')));
}

describe.each(settings)('the settings of $page', ({ code }) => {
  const environment = environmentOf(code);

  it('are accepted by the service that reads them', () => {
    const said = complaint(environment);
    // Keys of sources are named as missing, since no page shows one.
    for (const name of Object.keys(environment)) expect(said).not.toMatch(new RegExp(`${name}\\b`));
  });

  it('are read: a nonsensical value is refused', () => {
    for (const name of Object.keys(environment)) {
      expect(complaint({ ...environment, [name]: '=' })).toMatch(new RegExp(`${name}\\b`));
    }
  });
});
