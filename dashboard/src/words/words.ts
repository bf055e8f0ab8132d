/** Texts that several places show, or that depend on what is shown; others are beside their use. */
import { customerWords } from './customer-words.ts';

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

  firstCall: {},

  changeCredential: {},

  secondFactor: {
    title: 'Second factor',
    hint: 'With it a login needs a code of an authenticator (TOTP) beside the credential. Show your credential to set it up.',
    cannotBeSet:
      'No second factor can be set here: the control plane has no GW_CREDENTIALS_KEY, which encrypts the secret.',
    make: 'Set it up',
    scan: 'Scan this with an authenticator, or type the secret into it. Then show a code of it.',
    picture: 'QR code for an authenticator',
    secret: 'Secret',
    code: 'Code',
    codeHint: '6 digits, as the authenticator shows them',
    set: 'Ask for codes from now on',
    afterwards:
      'You log in anew afterwards, on every device. If you lose the authenticator, an admin of the platform resets your credential.',
    isSet: (since: string) => `Logins have asked for a code since ${since}.`,
    remove: 'Remove it',
  },

  login: {
    title: 'Log in',
    email: 'E-mail',
    credential: 'Credential',
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
    period: 'Period',
    days: (count: number) => (count === 1 ? '1 day' : `${count} days`),
    show: 'Show',
    by: 'Told apart by',
    energy_wh: 'Energy',
    carbon_g: 'Carbon',
    water_ml: 'Water',
    requests: 'Calls',
    calls: (count: string) => `${count} calls`,
    tokens: 'Tokens',
    wasted: 'Energy of calls that broke off',
    carbon_saved_g: 'Saved by the choice of regions',
    savedHint: (calls: string) =>
      `Estimated against the region that the order of preference alone would have taken; ${calls} of the calls can be compared.`,
    model: 'Model',
    region: 'Region',
    project: 'Project',
    key_id: 'Key',
    account_id: 'Account',
    between: (low: string, high: string) => `between ${low} and ${high}`,
    band: 'Lower to upper bound',
    bandHint: 'The band is what the sums can lie between, as if all calls were off in the same direction.',
    asTable: 'As a table',
    asChart: 'As a chart',
    csv: 'CSV',
    coverage: 'How the energy is known',
    measured: 'measured',
    modelled: 'modelled',
    estimated: 'estimated',
    degraded: 'without numbers',
    missing: (count: number) => `${count} calls without carbon are in no sum`,
    mixed: 'The sums hold intensities of different kinds (life cycle, combustion): they count different things.',
    countSimulated: 'Count simulated calls',
    simulatedHint: 'Simulated calls are among these numbers: they are of no real machine.',
    empty: 'No calls in this period',
    emptyHint: 'Make the first one with a key of this account:',
    others: 'others',
  },

  limits: {
    title: (tier: string) => `Limits of the tier ${tier}`,
    tiers: { audit: 'Audit', audit_plus: 'Audit Plus', enterprise: 'Enterprise' },
    per_s: 'calls a second',
    burst: 'calls at once',
    per_day: 'calls a day (UTC)',
    streams: 'open streams',
    today: (used: string) => `${used} calls today`,
  },

  audit: {
    empty: 'Nothing happened yet',
    chain:
      'Each entry holds the hash of the one before; keep the newest somewhere else, and nothing before it can be changed unseen.',
  },
  ...customerWords,
} as const;
