/** Describes each secret of the gateway, for docs/secrets.md and `./gw admin secrets`. */

export interface SecretFacts {
  /** The parts that are given it. */
  readonly held_by: string;
  readonly protects: string;
  readonly rotation: string;
  /** Tells what is gone if no copy is left. */
  readonly loss: string;
  /** Names the data that the control plane compares it with. */
  readonly compared_with: string;
}

/** In the order in which the page and the command show them. */
export const comparedSecrets = {
  GW_KEY_PEPPER: {
    held_by: 'ext-authz, control plane, migration with demo data',
    protects: 'the stored hashes of API keys',
    rotation:
      'Give all instances the new one as GW_KEY_PEPPER_PREVIOUS with the next version, then exchange the two. Keys move as they are used; take the old one out after 90 days.',
    loss: 'Every API key. Set a new pepper with the next version, and issue new keys.',
    compared_with: 'the digest that was stored with the first key',
  },
  GW_LEDGER_KEY: {
    held_by: 'control plane',
    protects: 'the seals of receipts, batches and the audit log',
    rotation:
      'Set the new one with the next GW_LEDGER_KEY_ID, and keep the old one in GW_LEDGER_KEYS_PREVIOUS as long as its receipts.',
    loss: 'What it has sealed cannot be told from forgeries any more, and is not served. There is no way back: keep two copies away from the database.',
    compared_with: 'seals of the audit log and of batches of receipts',
  },
  GW_LEDGER_ENTRY_KEY: {
    held_by: 'sidecar, control plane',
    protects: 'receipts on their way to Postgres, and the published catalogue',
    rotation:
      'Add the new one to GW_LEDGER_ENTRY_KEYS_PREVIOUS of all control planes, then set it for the sidecars, then for the control planes with the old one as a previous one. Take that out when spools and stream are empty.',
    loss: 'Receipts that wait in Valkey or in spools at that time. Stored ones are not concerned.',
    compared_with: 'receipts on their way to Postgres',
  },
  GW_EVIDENCE_KEY: {
    held_by: 'control plane; its public part: Envoy',
    protects: 'signatures of evidence packs, checkpoints, heads and archived months',
    rotation:
      'Set the new one, and put its public part in front of the old one in GW_EVIDENCE_PUBLIC_KEYS, which keeps the old ones for ever.',
    loss: 'Nothing that was signed, as long as its public part stays in GW_EVIDENCE_PUBLIC_KEYS. Rotate to a new one.',
    compared_with: 'signed heads of the ledger',
  },
  GW_NAMES_KEY: {
    held_by: 'control plane',
    protects: 'the keys that names of people and accounts are encrypted with',
    rotation:
      'Add the new one to GW_NAMES_KEYS_PREVIOUS on all instances, then set it with the next GW_NAMES_KEY_ID and the old one as a previous one. Take that out when no row of subject_keys names it.',
    loss: 'All names read `unreadable`, nobody can log in by e-mail, and changes that name somebody fail. There is no way back.',
    compared_with: 'keys of names',
  },
  GW_CREDENTIALS_KEY: {
    held_by: 'control plane',
    protects:
      'credentials of providers that operators set, secrets of account issuers, of webhooks and of second factors',
    rotation: 'Set the new one, with the old one as GW_CREDENTIALS_KEY_PREVIOUS for some minutes.',
    loss: 'These secrets: set the credentials, account issuers and webhooks again, and reset second factors.',
    compared_with: 'credentials of providers, and secrets of account issuers and of second factors',
  },
  GW_WITNESS_KEY: {
    held_by: 'ext-authz, control plane',
    protects: 'the counts of calls by ext-authz',
    rotation:
      'Give the control planes the new one with the old one as GW_WITNESS_KEY_PREVIOUS, then ext-authz the new one, and remove the old one an hour later.',
    loss: 'The counts of some seconds. Set a new one everywhere.',
    compared_with: 'the newest counts of calls',
  },
  GW_IDEMPOTENCY_KEY: {
    held_by: 'sidecar, control plane',
    protects: 'replies that are kept for idempotency keys',
    rotation:
      'Give all instances the new one as GW_IDEMPOTENCY_KEY_PREVIOUS, then exchange the two, and take the old one out a day later.',
    loss: 'The kept replies of a day: calls with these idempotency keys get 409, and do not run again.',
    compared_with: 'kept replies',
  },
} as const satisfies Readonly<Record<string, SecretFacts>>;

/** With these nothing is stored: a wrong one refuses connections at once. */
export const otherSecrets: Readonly<Record<string, Omit<SecretFacts, 'compared_with'>>> = {
  GW_INTERNAL_TOKEN: {
    held_by: 'Envoy and all services',
    protects: 'the internal listeners',
    rotation: 'See [Listeners](operations.md#listeners).',
    loss: 'Nothing: set a new one.',
  },
  'passwords in GW_DATABASE_URL…, GW_REDIS_URL': {
    held_by: 'each part its own',
    protects: 'Postgres and Valkey',
    rotation:
      'Postgres: run the migration with the new GW_DATABASE_PASSWORD_…, then restart the part. Valkey takes two passwords of a user at once (`ACL SETUSER gw_sidecar >new`, later `<old`).',
    loss: 'Nothing: set new ones.',
  },
  'GW_OBJECTS_ACCESS_KEY, GW_OBJECTS_SECRET_KEY': {
    held_by: 'control plane',
    protects: 'the object store',
    rotation: 'Make a second one there, set it, restart, delete the first one.',
    loss: 'Nothing: make new ones.',
  },
  GW_OIDC_CLIENT_SECRET: {
    held_by: 'control plane',
    protects: 'logins by an identity provider',
    rotation: 'Make a second one there, set it, restart, delete the first one.',
    loss: 'Nothing: make a new one.',
  },
};
