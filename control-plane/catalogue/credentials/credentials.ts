/**
 * The credentials of providers: set by operators, read from mounted files, or given in the environment, in this order.
 *
 * Invariant: a value is handed out to Envoy's secrets alone, and one that was set goes to its own origin alone. While a
 * store or a file cannot be read, what was read before holds.
 */
import type { Database } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import type { Vault } from '../../shared/vault.ts';
import type { CredentialSettings } from './config.ts';
import { readCredentialFiles } from './files.ts';
import { openTeller, type Teller } from './teller.ts';

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
  /** False until all sources were read for the first time: what is missing then is not known to be. */
  isRead(): boolean;
}

export interface Credentials extends CredentialView {
  /** The one of each name that is used. */
  list(): readonly KnownCredential[];
  /** Whether a file or the environment gives it as well. */
  isGivenToo(name: string): boolean;
  /** Reads all sources again. Throws if Postgres is away. */
  refresh(): Promise<void>;
}

type ValuedCredential = KnownCredential & { readonly value: string | null };

export const originOf = (baseUrl: string): string => new URL(baseUrl).origin;

export interface CredentialsOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly settings: CredentialSettings;
}

export function openCredentials({ db, log, settings }: CredentialsOptions): Credentials {
  const { dir, environment, vault } = settings;
  const tell = openTeller(log);
  const given = [...environment].map(([name, value]) => plain(name, 'environment', value));
  let files: ReadonlyMap<string, string> = new Map();
  let stored: readonly ValuedCredential[] = [];
  let isRead = false;
  let held = new Map<string, ValuedCredential>();
  const merge = () => {
    const mounted = [...files].map(([name, value]) => plain(name, 'file', value));
    held = new Map([...given, ...mounted, ...stored].map((each) => [each.name, each]));
  };
  merge();
  const read = async (): Promise<void> => {
    if (dir !== null) files = await readCredentialFiles(dir, files, tell);
    merge();
    stored = await readStored({ db, vault, tell, before: stored });
    isRead = true;
    merge();
  };
  // One after the other: a slower look of before must not put back what it saw.
  let last: Promise<void> = Promise.resolve();

  return {
    isRead: () => isRead,
    find: (name, baseUrl) => {
      const credential = held.get(name);
      if (credential === undefined) return null;
      return credential.origin === null || credential.origin === originOf(baseUrl) ? credential.value : null;
    },
    list: () => [...held.values()].map(({ value: _, ...known }) => known).sort((a, b) => (a.name < b.name ? -1 : 1)),
    isGivenToo: (name) => environment.has(name) || files.has(name),
    refresh: () => {
      last = last.then(read, read);
      return last;
    },
  };
}

interface StoredReading {
  readonly db: Database;
  readonly vault: Vault | null;
  readonly tell: Teller;
  readonly before: readonly ValuedCredential[];
}

async function readStored({ before, db, tell, vault }: StoredReading): Promise<ValuedCredential[]> {
  const rows = await db.providerCredential.findMany();
  return Promise.all(
    rows.map(async ({ name, origin, previous, sealed, setAt }) => {
      const opened = vault?.open(sealed, { name, origin }) ?? null;
      tell(name, opened === null ? 'a credential was set with another GW_CREDENTIALS_KEY, and cannot be opened' : null);
      if (opened?.isCurrent === false && vault !== null)
        await sealAgain(db, vault, { name, origin, previous, sealed, value: opened.value });
      const about = { origin, setAt, hasPrevious: previous !== null, isReadable: opened !== null };
      // Another instance may have sealed it again already, with a key that comes to this one with its next start.
      const known = before.find((each) => each.name === name && each.origin === origin)?.value ?? null;
      return { name, source: 'operator' as const, value: opened?.value ?? known, ...about };
    }),
  );
}

interface StoredCredential {
  readonly name: string;
  readonly origin: string;
  readonly sealed: Uint8Array<ArrayBuffer>;
  readonly previous: Uint8Array<ArrayBuffer> | null;
  readonly value: string;
}

/** With the current key, so that the one before can be taken away. */
async function sealAgain(db: Database, vault: Vault, stored: StoredCredential): Promise<void> {
  const { name, origin, previous, sealed, value } = stored;
  const seal = (text: string) => new Uint8Array(vault.seal(text, { name, origin }));
  const before = previous === null ? null : vault.open(previous, { name, origin });
  // Unless somebody has set another one meanwhile.
  await db.providerCredential.updateMany({
    where: { name, origin, sealed },
    data: { sealed: seal(value), previous: before === null ? null : seal(before.value) },
  });
}

const plain = (name: string, source: CredentialSource, value: string): ValuedCredential => ({
  name,
  source,
  value,
  origin: null,
  setAt: null,
  hasPrevious: false,
  isReadable: true,
});
