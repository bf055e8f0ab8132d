/**
 * The standing watch: with `GW_TEST_CLIENTS=newest` the tests of clients run with the newest release of each package instead of the pinned
 * one, and end with a table that says for each client which release it was and what broke.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inCheckout } from '@gw/stack/checkout';
import { afterAll, afterEach } from 'vitest';
import { z } from 'zod';

export const isNewest = process.env.GW_TEST_CLIENTS === 'newest';

function folderOf(name: string): string {
  const folder = inCheckout('.deps', 'newest', name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Path of a file that asks for these without a version. It is another one each day, or what is installed would stay. */
export function newestRequirements(name: string, packages: Iterable<string>): string {
  const file = join(folderOf(name), 'requirements.txt');
  const day = new Date().toISOString().slice(0, 10);
  writeFileSync(file, `# ${day}\n${[...new Set(packages)].sort().join('\n')}\n`);
  return file;
}

const manifestSchema = z.looseObject({ dependencies: z.record(z.string(), z.string()) });

/** Folder with the package.json of `pinned` at the newest releases, and a lock of today. */
export function newestNode(name: string, pinned: string): string {
  const folder = folderOf(name);
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(pinned, 'package.json'), 'utf8')));
  const dependencies = Object.fromEntries(Object.keys(manifest.dependencies).map((each) => [each, 'latest']));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, dependencies }));
  const args = ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'];
  execFileSync('npm', args, { cwd: folder, stdio: 'ignore' });
  return folder;
}

/** The release that is installed, of packages of Node and of Python. */
export function nodeRelease(modules: string, name: string): string {
  const manifest = JSON.parse(readFileSync(join(modules, 'node_modules', name, 'package.json'), 'utf8'));
  return `${name} ${z.looseObject({ version: z.string() }).parse(manifest).version}`;
}
export function pythonRelease(python: string, name: string): string {
  const script = `from importlib.metadata import version; print(version("${name}"))`;
  return `${name} ${execFileSync(python, ['-c', script], { encoding: 'utf8' }).trim()}`;
}

interface Client {
  readonly name: string;
  /** Asked once the packages are installed. */
  releases(): readonly string[];
}

/** `clientOf` finds whose test it is, by the names of the test and of what it stands in. */
export function watchClients(clients: readonly Client[], clientOf: (test: string, suite: string) => string): void {
  if (!isNewest) return;
  const broken = new Map<string, string>();
  afterEach(({ task }) => {
    const [failure] = task.result?.errors ?? [];
    const name = clientOf(task.name, task.suite?.name ?? '');
    if (failure && !broken.has(name)) broken.set(name, failure.message.split('\n')[0] ?? '');
  });
  afterAll(() => {
    const rows = clients.map(({ name, releases }) => [name, releases().join(', '), broken.get(name) ?? 'works']);
    process.stdout.write(`\n${tableOf([['Client', 'Releases', 'What broke'], ...rows])}\n`);
  });
}

function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const padded = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)));
  return padded.map((row) => row.join('  ').slice(0, 200)).join('\n');
}
