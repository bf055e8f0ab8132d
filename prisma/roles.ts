/**
 * The roles that the parts connect to Postgres as, and what each may do. `grant.ts` makes them so, and
 * `grant.pg.test.ts` compares this table with what the database says.
 *
 * Invariant: a role may do what its part does, and no more. None owns anything or is a superuser. No role changes or removes
 * what only grows. `ext_authz`, which strangers talk to, and `reader`, which answers questions, write neither the audit
 * log nor the ledger. Only `people` makes operators, their tokens and sessions; only `ledger` stores receipts, settles them and
 * writes their log.
 */

export const databaseRoles = ['ext_authz', 'people', 'customers', 'catalogue', 'ledger', 'reader'] as const;
export type DatabaseRole = (typeof databaseRoles)[number];

/** One process has all of these, and gives each of its wings the one that it needs. */
export type ControlPlaneRole = Exclude<DatabaseRole, 'ext_authz'>;
export const byControlPlaneRole = <T>(of: (role: ControlPlaneRole) => T): Readonly<Record<ControlPlaneRole, T>> => ({
  people: of('people'),
  customers: of('customers'),
  catalogue: of('catalogue'),
  ledger: of('ledger'),
  reader: of('reader'),
});
/** The settings of the control plane that say where each of its roles connects. */
export const databaseSettings = (urlOf: (role: ControlPlaneRole) => string) => ({
  GW_DATABASE_URL_PEOPLE: urlOf('people'),
  GW_DATABASE_URL_CUSTOMERS: urlOf('customers'),
  GW_DATABASE_URL_CATALOGUE: urlOf('catalogue'),
  GW_DATABASE_URL_LEDGER: urlOf('ledger'),
  GW_DATABASE_URL_READER: urlOf('reader'),
});

/** A query of a role that takes longer than this fails, ms: with ext-authz below Envoy's time-out of 2 s, elsewhere longer than any needs. */
export const queryTimeoutMs = (role: DatabaseRole): number => (role === 'ext_authz' ? 1500 : 30_000);
/** The limit that Postgres keeps, ms; the rest is for its error to arrive. */
export const statementTimeoutMs = (queryTimeout: number): number => Math.floor(0.95 * queryTimeout);

/** `prefix` keeps the roles of several gateways on one server apart. */
export const roleName = (role: DatabaseRole, prefix = 'gw'): string => `${prefix}_${role}`;

/** Privileges as GRANT names them, each for a whole table or for some of its columns. */
export type Rights = readonly string[];
export type RightsByRole = Readonly<Partial<Record<DatabaseRole, Rights>>>;

const read: Rights = ['SELECT'];
/** Rows are added, and never changed or taken out. */
const grows: Rights = ['SELECT', 'INSERT'];
/** Rows are marks of work: made, and taken out when it is done. */
const marks: Rights = ['SELECT', 'INSERT', 'DELETE'];
const changes: Rights = ['SELECT', 'INSERT', 'UPDATE'];
const whole: Rights = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

function columns(right: 'SELECT' | 'INSERT' | 'UPDATE') {
  return (...names: string[]): string => `${right} (${names.join(', ')})`;
}
const selecting = columns('SELECT');
const inserting = columns('INSERT');
const changing = columns('UPDATE');

const roundTimes = ['claimed_until', 'begun_at', 'finished_at', 'whole_begun_at', 'moved_at'];

/** The ledger writes these, and questions about it read them. */
const ledgerGrows: RightsByRole = { ledger: grows, reader: read };
const ledgerMarks: RightsByRole = { ledger: marks, reader: read };
const ledgerWork: RightsByRole = { ledger: whole, reader: read };
const ledgerReads: RightsByRole = { ledger: read, reader: read };
/** Entries of the catalogue; costs and figures by the market are computed from some of them. */
const entries: RightsByRole = { catalogue: whole };
const pricedEntries: RightsByRole = { catalogue: whole, ledger: read, reader: read };
const namedEntries: RightsByRole = { catalogue: whole, customers: read };

/** Every table. One that is not here nobody but the owner may read; partitions are `partitionRights`. */
export const tableRights: Readonly<Record<string, RightsByRole>> = {
  // The audit log: whoever makes a change writes its entry in the same transaction. A trigger moves the heads.
  audit: { people: grows, customers: grows, catalogue: grows, ledger: grows, reader: read },
  audit_heads: { people: read, customers: read, catalogue: read, ledger: read, reader: read },
  // Sealed.
  audit_heads_seen: { ledger: ['SELECT', 'INSERT', changing('seq', 'hash', 'seal', 'seal_key')], reader: read },

  // The keys of names: whoever writes an entry may hide a name in it; only `people` erases.
  subject_keys: {
    people: [...grows, changing('wrapped', 'key_id', 'erased_at')],
    customers: grows,
    catalogue: grows,
    ledger: grows,
    reader: read,
  },
  erasures: { people: changes, customers: read, reader: read },

  // People who log in, and their tokens.
  operators: { people: changes },
  operator_tokens: { people: marks },
  organisation_admins: { people: changes },
  account_issuers: { people: whole },
  second_factors: { people: whole },
  sessions: { people: whole },

  // Customers and their keys.
  accounts: {
    ext_authz: [
      selecting(
        'id',
        'tier',
        'state',
        'models',
        'limit_per_s',
        'limit_burst',
        'limit_per_day',
        'limit_streams',
        'tokens_per_minute',
        'tokens_per_day',
        'limit_shadow',
        'max_added_latency_ms',
        'max_added_cost_percent',
        'usage_impacts',
      ),
    ],
    people: read,
    customers: changes,
    catalogue: read,
    ledger: read,
    reader: read,
  },
  onboarding: { customers: changes, ledger: [selecting('account_id')], reader: [selecting('account_id')] },
  onboarding_steps: { customers: grows },
  api_keys: {
    // A hash is made again with a newer pepper when its key is used.
    ext_authz: ['SELECT', changing('hash', 'pepper_version')],
    customers: changes,
    catalogue: [selecting('public_id', 'account_id', 'name')],
  },
  pepper_checks: { ext_authz: read, customers: grows },
  key_uses: { customers: whole },
  // Triggers write these two.
  key_generation: { ext_authz: read, customers: read, ledger: read },
  key_changes: { ext_authz: read, customers: read },
  ground: { ledger: ['SELECT', changing('heartbeat', 'generation', 'at')] },
  budgets: { ext_authz: read, customers: whole, ledger: read },
  budget_webhooks: { customers: whole, ledger: ['SELECT', changing('sealed')] },
  budget_events: { customers: ['SELECT', 'UPDATE', 'DELETE'], ledger: changes },
  budget_estimates: ledgerGrows,

  // The catalogue.
  aliases: namedEntries,
  models: namedEntries,
  regions: entries,
  providers: entries,
  deployments: entries,
  provider_credentials: entries,
  policy_exemptions: entries,
  prices: pricedEntries,
  energy_contracts: pricedEntries,
  policy_versions: { catalogue: grows },
  policy_events: { catalogue: marks },
  published_grid: { catalogue: read, ledger: whole },
  // A trigger on what the ledger publishes raises it with the rights of the ledger.
  catalogue_version: { catalogue: ['SELECT', changing('version')], ledger: ['SELECT', changing('version')] },

  // The ledger.
  receipts: ledgerGrows,
  receipt_dictionaries: ledgerGrows,
  facts_parts: ledgerGrows,
  grid_readings: ledgerGrows,
  receipt_replacements: ledgerReads,
  receipt_heads: ledgerGrows,
  // Triggers make them; a seal is added once.
  receipt_batches: { ledger: ['SELECT', changing('seal', 'seal_key')], reader: read },
  // Functions of the owner freeze, detach and drop months.
  receipt_archives: {
    ledger: ['SELECT', inserting('month', 'asked_by'), changing('claimed_until', 'note', 'problem', 'rests_until')],
    reader: read,
  },
  receipt_archive_files: ledgerGrows,
  // The owner writes it.
  arrival_base: ledgerReads,
  recalculations: ledgerWork,
  restatements: ledgerWork,
  gpu_measurements: ledgerWork,
  usage_changes: ledgerMarks,
  usage_minutes: ledgerMarks,
  usage_hour_changes: ledgerMarks,
  usage_hours: ledgerMarks,
  usage_day_changes: ledgerMarks,
  usage_days: ledgerMarks,
  receipt_log: ledgerGrows,
  receipt_log_nodes: ledgerGrows,
  receipt_log_hours: ledgerWork,
  receipt_log_checkpoints: ledgerGrows,
  receipt_log_cosignatures: ledgerGrows,
  receipt_log_changes: ledgerMarks,
  receipt_log_set_aside: ledgerReads,

  // The second witness: what ext-authz counted, and how it compares with the receipts.
  witness_statements: {
    ext_authz: [inserting('life', 'seq', 'statement', 'code')],
    ledger: ['SELECT', 'DELETE'],
    reader: read,
  },
  witness_lives: ledgerWork,
  witness_gaps: { ledger: [...marks, changing('to_at')], reader: read },
  call_counts: ledgerWork,
  call_count_changes: ledgerMarks,

  // The checks. A finding stays, even when it is mended.
  integrity_faults: { ledger: [...grows, changing('fault', 'seen_at', 'mended_at', 'acknowledgement')], reader: read },
  integrity_checks: {
    ledger: ['SELECT', changing(...roundTimes, 'after_id', 'after_version', 'checked', 'skipped')],
    reader: read,
  },
  receipt_sections: ledgerWork,

  // Whoever removes something looks at these two.
  retention_policies: { people: read, customers: read, ledger: whole, reader: read },
  legal_holds: {
    people: read,
    customers: read,
    catalogue: read,
    ledger: ['SELECT', 'INSERT', changing('lifted_at', 'lifted_by', 'lift_reason')],
    reader: read,
  },

  // Who asks for a pack enters it and may give it up; a job of the ledger builds it.
  evidence_packs: {
    ledger: whole,
    reader: [
      'SELECT',
      inserting('id', 'account_id', 'request', 'format', 'created_at', 'changed_at'),
      changing('state', 'changed_at', 'leased_until'),
    ],
  },

  _prisma_migrations: {},
};

/** They reach the rows of the ledger through the ledger alone. */
export const partitionRights: RightsByRole = ledgerReads;

/** Every function that runs as the owner, triggers aside, and who may call it. */
export const functionRights: Readonly<Record<string, readonly DatabaseRole[]>> = {
  'settle_receipts(json)': ['ledger'],
  'restore_receipt(bigint,text)': ['ledger'],
  'set_aside_receipt_log(text,bigint)': ['ledger'],
  'ensure_receipt_partitions(date,integer)': ['ledger'],
  'freeze_receipt_month(date)': ['ledger'],
  'thaw_receipt_month(date)': ['ledger'],
  'ask_receipt_month_again(date,text)': ['ledger'],
  'detach_receipt_month(date)': ['ledger'],
  'drop_receipt_month(date)': ['ledger'],
  // Triggers call it.
  'note_key_changes(text[],text[])': [],
  // Whoever makes a change for a person holds that person until it is committed.
  'hold_operator(text)': ['people', 'customers', 'catalogue', 'ledger'],
  'hold_organisation_admin(text)': ['people', 'customers', 'catalogue', 'ledger'],
  'hold_operator_token(text,timestamp with time zone)': ['people', 'customers', 'catalogue', 'ledger'],
  'hold_session(text,text,text,timestamp with time zone)': ['people', 'customers', 'catalogue', 'ledger'],
};

/** Receipts come by temporary tables (docs/decisions/0054). */
export const makesTemporaryTables: readonly DatabaseRole[] = ['ledger'];
