/**
 * The credentials of providers: set by operators, read from mounted files, or given in the environment, in this order.
 *
 * Invariant: a value is handed out to Envoy's secrets alone, and one that was set goes to its own origin alone. While a
 * store or a file cannot be read, what was read before holds.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import { type CredentialSettings, credentialName, credentialValue } from './config.ts';

export type CredentialSource = 'operator' | 'file' | 'environment';

export interface KnownCredential {
  readonly name: string;
  readonly source: CredentialSource;
  /** Scheme, host and port that it is sent to; null: wherever a provider names it. */
  readonly origin: string | null;
  readonly setAt: Date | null;
  /** Whether the one before can be put back. */
  readonly hasPrevious: boolean;
  /** False: it was sealed with a key that this control plane does not have. */
  readonly isReadable: boolean;
}

export interface CredentialView {
  /** Returns the value for an address of a provider; null if there is none that may go there. */
  find(name: string, baseUrl: string): string | null;
}

export interface Credentials extends CredentialView {
  /** The one of each name that is used. */
  list(): readonly KnownCredential[];
  /** Whether a file or the environment gives it as well. */
  isGivenToo(name: string): boolean;
  /** Reads all sources again. Throws if Postgres is away. */
  refresh(): Promise<void>;
}

type Held = KnownCredential & { readonly value: string | null };

export const originOf = (baseUrl: string): string => new URL(baseUrl).origin;

export interface CredentialsOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly settings: CredentialSettings;
}

export function openCredentials({ db, log, settings }: CredentialsOptions): Credentials {
  const { dir, environment, vault } = settings;
  const given = [...environment].map(([name, value]) => plain(name, 'environment', value));
  let files: readonly Held[] = [];
  let stored: readonly Held[] = [];
  let held = new Map<string, Held>();
  const toldOf = new Set<string>();
  const tellOnce = (name: string, message: string) => {
    if (!toldOf.has(message + name)) log.error({ name }, message);
    toldOf.add(message + name);
  };
  const merge = () => {
    held = new Map([...given, ...files, ...stored].map((each) => [each.name, each]));
  };
  merge();

  const readStored = async (): Promise<Held[]> =>
    (await db.providerCredential.findMany()).map(({ name, origin, previous, sealed, setAt }) => {
      const value = vault?.open(sealed, { name, origin }) ?? null;
      if (value === null)
        tellOnce(name, 'a credential cannot be opened: GW_CREDENTIALS_KEY is not the one it was set with');
      const about = { origin, setAt, hasPrevious: previous !== null, isReadable: value !== null };
      return { name, source: 'operator', value, ...about };
    });

  const readFiles = async (folder: string): Promise<Held[]> => {
    const names = (await readdir(folder)).filter((name) => credentialName.test(name));
    const read = await Promise.all(
      names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const),
    );
    return read.flatMap(([name, text]) => {
      const value = text.trim();
      if (credentialValue.test(value)) return plain(name, 'file', value);
      tellOnce(name, 'the file of a credential holds none: one line of visible characters');
      return [];
    });
  };

  return {
    find: (name, baseUrl) => {
      const credential = held.get(name);
      if (credential === undefined) return null;
      return credential.origin === null || credential.origin === originOf(baseUrl) ? credential.value : null;
    },
    list: () => [...held.values()].map(({ value: _, ...known }) => known).sort((a, b) => (a.name < b.name ? -1 : 1)),
    isGivenToo: (name) => [...given, ...files].some((each) => each.name === name),
    refresh: async () => {
      if (dir !== null)
        files = await readFiles(dir).catch((error: unknown) => {
          tellOnce(dir, `the folder of the credentials cannot be read: ${(error as NodeJS.ErrnoException).code}`);
          return files;
        });
      merge();
      stored = await readStored();
      merge();
    },
  };
}

const plain = (name: string, source: CredentialSource, value: string): Held => ({
  ...{ name, source, value, origin: null, setAt: null, hasPrevious: false, isReadable: true },
});
