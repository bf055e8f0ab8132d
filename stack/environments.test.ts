/** Packages at pinned versions are installed once, also if several processes ask at the same time. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { goProgram, nodeWith } from './environments.ts';
import { inCheckout } from './machine/checkout.ts';

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
  const installs = () => lines.filter((line) => line.startsWith('Installing'));
  const dirs = await Promise.all([1, 2, 3].map(() => nodeWith(name, pinned, (line) => lines.push(line))));
  expect(new Set(dirs)).toEqual(new Set([inCheckout('.deps', `node-${name}`)]));
  expect(installs()).toEqual([
    `Installing the Node packages (${name})…`,
    expect.stringMatching(/^Installing the Node packages \(.*\)… \d+ s$/),
  ]);
});

test('those that wait begin again what somebody could not install', async () => {
  writeFileSync(join(pinned, 'package.json'), '{');
  const lines: string[] = [];
  const all = await Promise.allSettled([1, 2].map(() => nodeWith(name, pinned, (line) => lines.push(line))));
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(lines.filter((line) => line.startsWith('Installing'))).toHaveLength(2);
});

/** In a process of its own, until it has said that it installs. `npm` is what it finds by that name. */
async function startInstalling(npm: string): Promise<ChildProcess> {
  writeFileSync(join(pinned, 'npm'), `#!/bin/sh\n${npm}\n`, { mode: 0o755 });
  const script = `
    const { nodeWith } = await import(${JSON.stringify(inCheckout('stack', 'environments.ts'))});
    await nodeWith(${JSON.stringify(name)}, ${JSON.stringify(pinned)}, (line) => process.stdout.write(line));`;
  const env = { ...process.env, PATH: `${pinned}:${process.env.PATH}` };
  const args = ['--input-type=module', '-e', script];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

test('another process is waited for, and what it has made is made once', async () => {
  writeFileSync(join(pinned, 'package.json'), JSON.stringify(about));
  const other = await startInstalling('sleep 1');
  const lines: string[] = [];
  await nodeWith(name, pinned, (line) => lines.push(line));
  expect(lines).toEqual([`Another process installs the Node packages (${name})…`]);
  await once(other, 'exit');
});

test('one that was killed holds nobody up, and several begin once what it has left', async () => {
  writeFileSync(join(pinned, 'package.json'), JSON.stringify(about));
  const other = await startInstalling('exec sleep 2');
  const lines: string[] = [];
  const waiting = Promise.all([1, 2, 3].map(() => nodeWith(name, pinned, (line) => lines.push(line))));
  await vi.waitUntil(() => lines.length === 3, 10_000);
  other.kill('SIGKILL');
  await waiting;
  expect(lines.filter((line) => line.startsWith('Installing'))).toHaveLength(2);
});

const madeByGo = (program: string) => inCheckout('.deps', `go-${program}-v1.2.3`);

/** `go` is what it finds by that name. */
async function building(go: string): Promise<{ path: string; tree: string[] }> {
  writeFileSync(join(pinned, 'go'), `#!/bin/sh\n${go}\n`, { mode: 0o755 });
  vi.stubEnv('PATH', `${pinned}:${process.env.PATH}`);
  const dir = madeByGo(name);
  try {
    const path = await goProgram(`example.org/cmd/${name}@v1.2.3`, () => undefined);
    return { path, tree: readdirSync(dir).sort() };
  } finally {
    vi.unstubAllEnvs();
    for (const each of [dir, `${dir}.lock`]) rmSync(each, { recursive: true, force: true });
  }
}

test('a program of Go is built with caches of its own, which are removed behind it', async () => {
  const go = `mkdir -p "$GOPATH/pkg" "$GOCACHE" && echo "$*" > "$GOBIN/${name}"`;
  const { path, tree } = await building(go);
  expect(path).toBe(join(madeByGo(name), name));
  expect(tree).toEqual([name, 'stamp']);
});

test('what Go builds from is checked and kept apart, whatever the environment says', async () => {
  const variables = { GOSUMDB: 'off', GONOSUMDB: '*', GOPRIVATE: '*', GOENV: '/etc/go', GOMODCACHE: '/elsewhere' };
  for (const [variable, value] of Object.entries(variables)) vi.stubEnv(variable, value);
  const told = Object.keys(variables).map((variable) => `$${variable}`);
  const go = `echo "${told.join(' ')}" >&2; exit 1`;
  const modules = join(madeByGo(name), 'work', 'modules');
  await expect(building(go)).rejects.toThrow(`Go could not build ${name}: sum.golang.org   off ${modules}`);
});

test('why Go could not build is told in one line', async () => {
  const said = ['go: example.org requires go >= 9; switching to go9', 'go: downloading something', 'go: 403 Forbidden'];
  const go = `${[...said, ' Not here.'].map((line) => `echo '${line}' >&2`).join('; ')}; exit 1`;
  await expect(building(go)).rejects.toThrow(`Go could not build ${name}: go: 403 Forbidden`);
  const broken = `echo '${said[0]}' >&2; echo 'main.go:1: syntax error' >&2; exit 1`;
  await expect(building(broken)).rejects.toThrow(`Go could not build ${name}: main.go:1: syntax error`);
  await expect(building('kill -9 $$')).rejects.toThrow(`Go could not build ${name}: `);
});

test('where there is no Go, what to do is told', async () => {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => !existsSync(join(folder, 'go')));
  vi.stubEnv('PATH', folders.join(delimiter));
  const dir = madeByGo(name);
  try {
    const built = goProgram(`example.org/cmd/${name}@v1.2.3`, () => undefined);
    await expect(built).rejects.toThrow('There is no go on the PATH');
  } finally {
    vi.unstubAllEnvs();
    for (const each of [dir, `${dir}.lock`]) rmSync(each, { recursive: true, force: true });
  }
});
