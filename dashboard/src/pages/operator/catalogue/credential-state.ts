import type { Credential, Provider } from '../../../api/types.ts';

export type CredentialState = 'none' | 'set' | 'missing' | 'elsewhere' | 'unreadable';
type KnownCredential = Pick<Credential, 'name' | 'origin' | 'readable'>;

/** Whether calls to a provider get its credential, and why not: one that was set goes to its own address alone. */
export function credentialState(
  { base_url, credential_ref: name }: Pick<Provider, 'base_url' | 'credential_ref'>,
  credentials: readonly KnownCredential[],
): CredentialState {
  if (name === null) return 'none';
  const known = credentials.find((each) => each.name === name);
  if (known === undefined) return 'missing';
  if (!known.readable) return 'unreadable';
  return known.origin === null || known.origin === new URL(base_url).origin ? 'set' : 'elsewhere';
}
