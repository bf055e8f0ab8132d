/**
 * The packages that the examples import, at pinned versions and outside of the repository's own: virtual environments of
 * Python, and one folder of Node packages that is made once and kept in `.deps/`.
 *
 * Invariant: the stamp is written last, so an installation that was cut off is begun again.
 */
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inCheckout } from '@gw/stack/checkout';
import { z } from 'zod';
import { pythonWith } from '../../sdk/python-client.ts';
import { type Example, examples } from './page.ts';

/** Frameworks that live with the same release of the official client. */
const groups = ['openai-3', 'openai-2'] as const;
type Group = (typeof groups)[number];

export interface Packages {
  /** Folder above `node_modules`. */
  readonly node: string;
  /** Interpreters. */
  readonly python: Readonly<Record<Group | 'litellm-proxy', string>>;
}

const pinned = (...path: string[]) => inCheckout('test', 'long', 'frameworks', ...path);
const log = (line: string) => process.stderr.write(`${line}\n`);

export async function installPackages(): Promise<Packages> {
  const python = (name: string) => pythonWith(`frameworks-${name}`, pinned(name, 'requirements.txt'), log);
  // One after the other: pip takes a whole core.
  const [two, three, proxy] = [await python('openai-2'), await python('openai-3'), await python('litellm-proxy')];
  return { node: await nodePackages(), python: { 'openai-2': two, 'openai-3': three, 'litellm-proxy': proxy } };
}

async function nodePackages(): Promise<string> {
  const dir = inCheckout('.deps', 'node-frameworks');
  const stampFile = join(dir, 'stamp');
  const stamp = `${process.version}\n${readFileSync(pinned('node', 'package-lock.json'), 'utf8')}`;
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return dir;
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  log('Installing the Node packages (frameworks)…');
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(pinned('node', name), join(dir, name));
  await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: dir });
  writeFileSync(stampFile, stamp);
  return dir;
}

/** The group whose file pins all that the example says to install. */
export function groupOf({ framework, packages }: Example): Group {
  const found = groups.find((name) => {
    const lines = readFileSync(pinned(name, 'requirements.txt'), 'utf8').split('\n');
    return packages.every((each) => lines.some((line) => line.startsWith(`${each}==`)));
  });
  if (!found) throw new Error(`No requirements.txt pins what ${framework} needs.`);
  return found;
}

const manifest = z.object({ dependencies: z.record(z.string(), z.string()) });

/** What examples say to install and the package.json of these tests does not pin. */
export function unpinnedNodePackages(): string[] {
  const { dependencies } = manifest.parse(JSON.parse(readFileSync(pinned('node', 'package.json'), 'utf8')));
  const wanted = examples.filter(({ language }) => language === 'js').flatMap(({ packages }) => packages);
  return wanted.filter((name) => !/^\d+\.\d+\.\d+$/.test(dependencies[name] ?? ''));
}
