/** Texts that several places show, or that depend on what is shown; others are beside their use. */

/** The texts of the customers' pages. */
const customerWords = {
  keys: {
    issue: 'Issue a key',
    name: 'Name',
    scopes: 'May',
    scopeHints: {
      'inference:read': 'list models and regions',
      'inference:write': 'make calls',
      'gw:read': 'read receipts and usage',
      'gw:lineage': 'read where the numbers of receipts come from',
      'gw:export': 'order evidence packs',
      'admin:keys': 'issue, rotate and revoke keys, and read the audit log',
    },
    project: 'Project',
    state: 'State',
    active: 'active',
    revoked: 'revoked',
    expired: 'expired',
    lastUsed: 'Last used',
    never: 'never',
    rotate: 'Rotate',
    revoke: 'Revoke',
    restore: 'Restore',
    secretTitle: 'The new key',
    secretOnce: 'It is shown this once. Whoever has it can make calls in your name.',
    revokeTitle: (name: string) => `Revoke ${name}`,
    revokeHint: 'Calls with it fail within a second. It can be restored for 90 days.',
    actions: 'Actions',
    empty: 'No keys yet',
  },

  receipts: {
    find: 'Find',
  },

  receipt: {
    all: 'All fields',
  },

  budgets: {
    title: 'Budgets of this month',
    set: 'Set a budget',
    remove: 'Remove',
    of: 'Of',
    scopes: { account: 'Account', key: 'Key', project: 'Project' },
    names: { key: 'Id of the key', project: 'Name of the project' },
    unitNames: { carbon_g: 'Carbon, g CO₂e', energy_wh: 'Energy, Wh', tokens: 'Tokens', cost: 'Money' },
    kind: 'Kind',
    kinds: { hard: 'hard', soft: 'soft' },
    kindHints: { soft: 'soft: tells, and refuses nothing', hard: 'hard: refuses calls above it' },
    setters: { operator: 'the platform', organisation: 'the organisation' },
  },

  packs: {
    verify: 'Verify a pack',
    verifyThis: 'Verify',
    format: 'Format',
    formats: {
      jsonld: 'JSON-LD, signed',
      csv: 'CSV table, with a signed statement',
      parquet: 'Parquet table, with a signed statement',
    },
    download: 'Download',
    made: 'Large packs and tables',
    states: {
      queued: 'waits',
      building: 'is made',
      ready: 'ready',
      failed: 'failed',
      cancelled: 'cancelled',
      expired: 'no longer kept',
    },
  },
} as const;

export const locale = 'en-GB';

export const words = {
  product: 'Inference gateway',
  menu: 'Pages',
  light: 'Light colours',
  dark: 'Dark colours',
  copy: 'Copy',
  copied: 'Copied',
  cancel: 'Cancel',
  close: 'Close',
  none: 'none',
  unknown: 'unknown',
  all: 'All',
  simulated: 'simulated',
  loading: 'Loading',

  secondFactor: {
    title: 'Second factor',
  },

  login: {
    title: 'Log in',
    email: 'E-mail',
    credential: 'Credential',
    withProvider: 'Log in with the identity provider',
    withOrganisation: 'Log in with your organisation',
    providerFailed: 'The login with the identity provider failed',
  },

  pages: {
    overview: 'Overview',
    keys: 'Keys',
    receipts: 'Receipts',
    budgets: 'Limits and budgets',
    packs: 'Evidence',
    audit: 'Audit log',
    fleet: 'Fleet',
    accounts: 'Accounts',
    onboarding: 'Onboarding',
    catalogue: 'Catalogue',
    grid: 'Grid',
    policy: 'Policy',
    live: 'Live',
  },

  usage: {
    days: (count: number) => (count === 1 ? '1 day' : `${count} days`),
    energy_wh: 'Energy',
    carbon_g: 'Carbon',
    water_ml: 'Water',
    requests: 'Calls',
    model: 'Model',
    region: 'Region',
    project: 'Project',
    key_id: 'Key',
    account_id: 'Account',
    between: (low: string, high: string) => `between ${low} and ${high}`,
    band: 'Lower to upper bound',
    bandHint: 'The band is what the sums can lie between, as if all calls were off in the same direction.',
    measured: 'measured',
    modelled: 'modelled',
    estimated: 'estimated',
    degraded: 'without numbers',
  },

  limits: {
    tiers: { audit: 'Audit', audit_plus: 'Audit Plus', enterprise: 'Enterprise' },
    per_s: 'calls a second',
    burst: 'calls at once',
    per_day: 'calls a day (UTC)',
    streams: 'open streams',
    tokens: 'Limits in tokens',
    tokens_per_minute: 'tokens a minute',
    tokens_per_day: 'tokens a day (UTC)',
    today: (used: string) => `${used} calls today`,
  },

  audit: {
    empty: 'Nothing happened yet',
    chain:
      'Each entry holds the hash of the one before; keep the newest somewhere else, and nothing before it can be changed unseen.',
  },
  ...customerWords,
} as const;
