/**
 * No cycle between folders: in each folder, its sub-folders are rooms, and its loose files together are one more. An import
 * (also one of types alone) leads from room to room, and no way leads back.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { inCheckout } from '@gw/stack/checkout';
import { isTest, sourceFiles } from '@gw/testing/source-files';
import { expect, test } from 'vitest';

type Files = ReadonlyMap<string, string>;
interface Arrow {
  readonly from: string;
  readonly to: string;
  /** The import that it stands for. */
  readonly imported: string;
}

const statement = /^(?:import|export)\b[^'";]*?\bfrom\s*'([^']+)'|^import\s*'([^']+)'|\bimport\(\s*'([^']+)'/gm;

/** The file that an import of the repository's own code means; null for a library. */
function target(files: Files, from: string, specifier: string): string | null {
  if (specifier.startsWith('.')) return join(dirname(from), specifier);
  const [, name, face] = /^@gw\/([^/]+)\/(.+)$/.exec(specifier) ?? [];
  if (name === undefined) return null;
  const manifest = files.get(`${name}/package.json`);
  if (manifest === undefined) throw new Error(`${from} imports ${specifier}, of which there is no package.json.`);
  const { exports } = JSON.parse(manifest) as { exports: Record<string, string> };
  return join(name, exports[`./${face}`] ?? `${face?.replace(/^internals\//, '')}.ts`);
}

const room = (folder: readonly string[], path: readonly string[]): string =>
  path.length > folder.length + 1 ? `${path[folder.length]}/` : 'loose files';

/** The arrows of each folder. An import is one of the deepest folder that holds both of its ends. */
function arrowsOf(files: Files): Map<string, Arrow[]> {
  const arrows = new Map<string, Arrow[]>();
  for (const [file, text] of files)
    for (const [, ...specifiers] of text.matchAll(statement)) {
      const to = target(files, file, specifiers.find(Boolean) as string);
      // A manifest is in no room.
      if (to === null || !files.has(to) || to.endsWith('/package.json')) continue;
      const [path, other] = [file.split('/'), to.split('/')];
      const depth = path.findIndex((part, at) => part !== other[at] || at === path.length - 1);
      const folder = path.slice(0, depth);
      const arrow = { from: room(folder, path), to: room(folder, other), imported: `${file} → ${to}` };
      const name = folder.join('/') || '.';
      if (arrow.from !== arrow.to) arrows.set(name, [...(arrows.get(name) ?? []), arrow]);
    }
  return arrows;
}

function reached(from: string, arrows: readonly Arrow[]): Set<string> {
  const rooms = new Set<string>();
  const visit = (one: string): void => {
    for (const { from, to } of arrows)
      if (from === one && !rooms.has(to)) {
        rooms.add(to);
        visit(to);
      }
  };
  visit(from);
  return rooms;
}

interface Cycle {
  readonly rooms: string;
  readonly imports: readonly string[];
}

/** Returns the rooms of each folder that are on a cycle, and an import for each arrow between them. */
function folderCycles(files: Files): Map<string, Cycle> {
  const cycles = new Map<string, Cycle>();
  for (const [folder, arrows] of arrowsOf(files)) {
    const ways = new Map(arrows.map(({ from }) => [from, reached(from, arrows)]));
    const rooms = [...ways].filter(([one, others]) => others.has(one)).map(([one]) => one);
    const circular = arrows.filter(({ from, to }) => ways.get(to)?.has(from));
    const imports = [...new Map(circular.map(({ from, imported, to }) => [`${from} ${to}`, imported])).values()];
    if (rooms.length > 0) cycles.set(folder, { rooms: rooms.sort().join(' ↔ '), imports });
  }
  return cycles;
}

const packages = (extra: Record<string, string>): Files =>
  new Map(Object.entries({ 'a/package.json': '{"exports": {"./face": "./deep/er/face.ts"}}', ...extra }));

test('there are no cycles between folders', () => {
  const files = sourceFiles('ts', 'tsx', 'mjs');
  for (const path of files.keys()) if (isTest(path)) files.delete(path);
  const { workspaces } = JSON.parse(readFileSync(inCheckout('package.json'), 'utf8')) as { workspaces: string[] };
  for (const name of workspaces)
    files.set(`${name}/package.json`, readFileSync(inCheckout(name, 'package.json'), 'utf8'));
  const cycles = [...folderCycles(files)];
  expect(cycles.map(([folder, { imports, rooms }]) => `${folder}: ${rooms}\n${imports.join('\n')}`)).toEqual([]);
  expect(files.size, 'Files were read.').toBeGreaterThan(700);
});

test('a cycle of types between two folders is found, with the imports that make it', () => {
  const files = packages({
    'a/one/x.ts': "import type { Y } from '../two/y.ts';\n",
    'a/two/y.ts': "export type {\n  Z,\n} from '../one/deeper/z.ts';\n",
    'a/one/deeper/z.ts': '',
    'a/three/w.ts': "import { x } from '../one/x.ts';\n",
  });
  const imports = ['a/one/x.ts → a/two/y.ts', 'a/two/y.ts → a/one/deeper/z.ts'];
  expect([...folderCycles(files)]).toEqual([['a', { rooms: 'one/ ↔ two/', imports }]]);
});

test('loose files are one room, and a late import counts', () => {
  const files = packages({
    'a/upper.ts': "const { x } = await import('./one/x.ts');\n",
    'a/one/x.ts': "import '../lower.ts';\n",
    'a/lower.ts': '',
  });
  expect(folderCycles(files).get('a')?.rooms).toBe('loose files ↔ one/');
});

test('a cycle over three packages is found by their names', () => {
  const files = packages({
    'a/deep/er/face.ts': "import { b } from '@gw/b/internals/x';\n",
    'b/x.ts': "import { c } from '../c/y.ts';\n",
    'c/y.ts': "import { a } from '@gw/a/face';\n",
    'b/package.json': '{"exports": {"./internals/*": "./*.ts"}}',
  });
  expect(folderCycles(files).get('.')?.rooms).toBe('a/ ↔ b/ ↔ c/');
});

test('imports in one direction are no cycle', () => {
  const files = packages({
    'a/upper.ts': "import { x } from './one/x.ts';\nimport { z } from 'zod';\n",
    'a/one/x.ts': "import type { Y } from './two/y.ts';\n",
    'a/one/two/y.ts': '',
  });
  expect([...folderCycles(files)]).toEqual([]);
});
