/** The packages that the examples import, at pinned versions: virtual environments of Python, and a folder of Node packages. */
import { readFileSync } from 'node:fs';
import { inCheckout } from '@gw/stack/checkout';
import { nodeWith, pythonWith } from '@gw/stack/environments';
import { z } from 'zod';
import { isNewest, newestNode, newestRequirements, nodeRelease, pythonRelease } from './newest.ts';
import { type Example, examples } from './page.ts';

/** Frameworks that live with the same releases of each other. An example takes the first that pins all that it needs. */
const groups = ['responses-messages', 'openai-3', 'openai-2'] as const;
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
  // One after the other: pip takes a whole core.
  const newest = await pythonPackages('responses-messages');
  const [two, three] = [await pythonPackages('openai-2'), await pythonPackages('openai-3')];
  const proxy = await litellmServer();
  const node = await nodePackages('node');
  return { node, python: { 'responses-messages': newest, 'openai-2': two, 'openai-3': three, 'litellm-proxy': proxy } };
}

/** The interpreter that LiteLLM's own server runs on. */
export const litellmServer = (): Promise<string> =>
  pythonWith('litellm', inCheckout('bench', 'peers', 'litellm', 'requirements.txt'), log);

/** The interpreter of a group. */
export function pythonPackages(name: Group): Promise<string> {
  if (!isNewest) return pythonWith(`frameworks-${name}`, pinned(name, 'requirements.txt'), log);
  const own = examples.filter((example) => example.language !== 'js' && groupOf(example) === name);
  const wanted = own.flatMap(({ install }) => install);
  return pythonWith(`newest-${name}`, newestRequirements(name, wanted), log);
}

/** Folder above the `node_modules` with what the package.json of this folder pins. */
export const nodePackages = (name: 'node' | 'agents'): Promise<string> =>
  isNewest
    ? nodeWith(`newest-${name}`, newestNode(name, pinned(name)), log)
    : nodeWith(`frameworks-${name}`, pinned(name), log);

/** The releases of the packages that an example says to install. */
export function releasesOf(example: Example, { node, python }: Packages): readonly string[] {
  const { language, packages } = example;
  return packages.map((name) =>
    language === 'js' ? nodeRelease(node, name) : pythonRelease(python[groupOf(example)], name),
  );
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

/** Packages that the examples install and that the package.json of these tests does not pin. */
export function unpinnedNodePackages(): string[] {
  const { dependencies } = manifest.parse(JSON.parse(readFileSync(pinned('node', 'package.json'), 'utf8')));
  const wanted = examples.filter(({ language }) => language === 'js').flatMap(({ packages }) => packages);
  return wanted.filter((name) => !/^\d+\.\d+\.\d+$/.test(dependencies[name] ?? ''));
}
