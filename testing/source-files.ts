/** The sources of the repository, as the tests of its structure read them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkout } from '@gw/stack/checkout';

const unread = /^(\..*|node_modules|dist|generated|operator-api\.d\.ts)$/;

function* pathsIn(folder: string): Generator<string> {
  for (const entry of readdirSync(join(checkout, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (unread.test(entry.name)) continue;
    if (entry.isDirectory()) yield* pathsIn(path);
    else yield path;
  }
}

/** The text of each file with one of these extensions by its path in the repository, without those that a build writes. */
export function sourceFiles(...extensions: string[]): Map<string, string> {
  const paths = [...pathsIn('.')].filter((path) => extensions.includes(path.slice(path.lastIndexOf('.') + 1)));
  return new Map(paths.sort().map((path) => [path, readFileSync(join(checkout, path), 'utf8')]));
}

export const isTest = (path: string): boolean => /\.test\.tsx?$|^test\/|^testing\//.test(path);
