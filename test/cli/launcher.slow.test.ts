/** The launcher on machines where something is missing. Each has a folder of programs as its whole PATH. */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { checkout, inCheckout } from '@gw/stack/checkout';
import { findOnPath } from '@gw/stack/child';
import { Problem } from '@gw/stack/problem';
import { pythonProgram } from '@gw/stack/python-package';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { run } from './gateway-of-its-own.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-launcher-'));
  mkdirSync(join(dir, 'bin'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A PATH with these programs and nothing else. */
function pathWith(...names: string[]): string {
  const bin = join(dir, 'bin');
  for (const name of ['bash', 'env', 'dirname', 'readlink', ...names]) {
    const found = findOnPath(name);
    if (!found) throw new Error(`${name} is not on PATH.`);
    symlinkSync(found, join(bin, name));
  }
  return bin;
}

test.each([
  ['Node', [], /^gw: Node is missing\. Install Node 20\.19 or later/],
  ['npm', ['node'], /^gw: npm is missing\./],
  ['Python', ['node', 'npm'], /^gw: Python 3 is missing\. Install it/],
])('a missing %s is one line that says what to do', async (_what, names, message) => {
  const { code, out, err } = await run(inCheckout('gw'), ['status'], { PATH: pathWith(...names) });
  expect(code).toBe(1);
  expect(out).toBe('');
  expect(err).toMatch(message);
  expect(err.trim().split('\n')).toHaveLength(1);
});

/** A PATH whose Node says this of itself, and runs nothing. */
function pathWithNode(version: string): string {
  const path = pathWith('npm', 'python3');
  writeFileSync(join(path, 'node'), `#!/bin/sh\n[ "$1" = --version ] && echo ${version}\n`);
  chmodSync(join(path, 'node'), 0o755);
  return path;
}

test.each([
  ['v18.20.0', 'Node v18.20.0'],
  ['v20.18.3', 'Node v20.18.3'],
  ['welcome: v24.0.0', 'Node welcome: v24.0.0'],
  ['', 'Node that cannot be run'],
])('a Node that says %j is one line that says what to do', async (version, said) => {
  const { code, err } = await run(inCheckout('gw'), ['status'], { PATH: pathWithNode(version) });
  expect([code, err]).toEqual([
    1,
    `gw: ${said} is too old. Install Node 20.19 or later from nodejs.org and start again.\n`,
  ]);
});

test.each(['v20.19.0', 'v24.0.0', 'v23.0.0-nightly20240801'])('Node %s is new enough', async (version) => {
  const { err } = await run(inCheckout('gw'), ['status'], { PATH: pathWithNode(version) });
  expect(err).not.toContain('too old');
});

test('a registry that cannot be reached is one line, and nothing is left half-installed', async () => {
  const copy = join(dir, 'checkout');
  for (const file of [
    'gw',
    'cli/prepare.mjs',
    'cli/run-step.mjs',
    'package.json',
    'package-lock.json',
    '.npmrc',
    ...manifests(),
  ]) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(inCheckout(file), join(copy, file));
  }
  const { code, err } = await run(join(copy, 'gw'), ['status'], {
    PATH: process.env.PATH,
    HOME: join(dir, 'home'),
    npm_config_registry: 'http://127.0.0.1:9/',
    npm_config_fetch_retries: '0',
  });
  expect(code).toBe(1);
  expect(err.trim().split('\n').at(-1)).toMatch(/^gw: .*the package registry could not be reached\. Check network/);
  expect(readdirSync(copy)).not.toContain('dist');
});

/** The manifests of the workspaces, which npm wants to see. */
function manifests(): string[] {
  const folders = readdirSync(checkout, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders
    .map(({ name }) => join(name, 'package.json'))
    .filter((file) => !file.startsWith('node_modules') && exists(file));
}

function exists(file: string): boolean {
  return readdirSync(inCheckout(dirname(file))).includes('package.json');
}

/** The outcome of installing a package that nobody has, by these settings of pip. */
async function failedInstall(settings: Record<string, string>): Promise<unknown> {
  const saved = { ...process.env };
  Object.assign(process.env, settings);
  try {
    const wanted = { name: 'gw-no-such-package', version: '1.0', sha256: ['0'.repeat(64)], program: /x/ };
    return await pythonProgram(wanted, () => {}).catch((cause: unknown) => cause);
  } finally {
    process.env = saved;
    expect(readdirSync(inCheckout('.deps')).filter((name) => /download|no-such/.test(name))).toEqual([]);
  }
}

test('a Python index that cannot be reached is one line, and nothing is left half-installed', async () => {
  const failure = await failedInstall({ PIP_INDEX_URL: 'http://127.0.0.1:9/', PIP_NO_INDEX: '' });
  expect(failure).toBeInstanceOf(Problem);
  expect(String(failure)).toMatch(/could not be downloaded: no connection to the Python package index\. Check network/);
});

test('a package with another checksum is one line, and nothing of it is installed', async () => {
  writeFileSync(join(dir, 'gw_no_such_package-1.0-py3-none-any.whl'), 'what somebody else has put there');
  const failure = await failedInstall({ PIP_NO_INDEX: '1', PIP_FIND_LINKS: dir });
  expect(failure).toBeInstanceOf(Problem);
  expect(String(failure)).toMatch(
    /checksum of gw-no-such-package==1\.0 is not one that we expect; it was not installed/,
  );
});

test('a package that has nothing for this machine is none', async () => {
  expect(await failedInstall({ PIP_NO_INDEX: '1', PIP_FIND_LINKS: dir })).toBeNull();
});
