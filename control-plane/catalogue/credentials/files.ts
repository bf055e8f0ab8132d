/**
 * Credentials in files, as secret stores and Kubernetes mount them: one in each, which is called as the catalogue calls it.
 *
 * Invariant: while a file, or the folder, holds nothing that can be used, what was read before holds: somebody may be about to write
 * it. One that is gone is gone.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { credentialName, credentialValue } from './config.ts';
import type { Teller } from './teller.ts';

const longestBytes = 16_384;

/** Returns the values by name. Never rejects; `before` is what the last look returned. */
export async function readCredentialFiles(
  folder: string,
  before: ReadonlyMap<string, string>,
  tell: Teller,
): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(folder).catch(() => null);
  tell(folder, names === null ? 'the folder of the credentials cannot be read: what was read before holds' : null);
  if (names === null) return before;
  const values = new Map<string, string>();
  for (const name of names.filter((each) => credentialName.test(each))) {
    const file = join(folder, name);
    const read = await valueIn(file);
    tell(
      file,
      read === null ? 'a file holds no credential (one line of visible characters): what was read before holds' : null,
    );
    const value = read ?? before.get(name);
    if (value !== undefined) values.set(name, value);
  }
  return values;
}

/** Null: it cannot be read, or holds none. A pipe would never end. */
async function valueIn(file: string): Promise<string | null> {
  try {
    const about = await stat(file);
    if (!about.isFile() || about.size > longestBytes) return null;
    const value = (await readFile(file, 'utf8')).trim();
    return credentialValue.test(value) ? value : null;
  } catch {
    return null;
  }
}
