/** The checkout that this code belongs to: everything the command writes lies inside it. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

function findRoot(from: string): string {
  for (let dir = from; ; dir = dirname(dir)) {
    const manifest = join(dir, 'package.json');
    if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).workspaces) return dir;
    if (dir === dirname(dir)) throw new Error(`No checkout of the gateway above ${from}.`);
  }
}

/** Works from the sources and from the bundle in dist/ alike. */
export const checkout = findRoot(dirname(fileURLToPath(import.meta.url)));
export const inCheckout = (...path: string[]): string => join(checkout, ...path);

/** Where `./gw up` keeps its state; another folder lets a second gateway run beside the first. */
export const stateFolder = process.env.GW_DIR ? resolve(process.env.GW_DIR) : inCheckout('.gw');
