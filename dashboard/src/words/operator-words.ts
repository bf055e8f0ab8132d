/** The texts of the operators' pages. */
import { catalogueWords } from './catalogue-words.ts';
import { words as common } from './words.ts';

/** The texts of the operators' page Policy. */
const policyWords = {
  policy: {
    views: {
      rules: 'Rules',
      versions: 'Versions',
      draft: 'Draft',
      exemptions: 'Exemptions',
      findings: 'Findings',
    },
    hash: 'SHA-256 of the rules',
    rule: 'Rule',
    screens: { dual_use: 'dual use', acceptable_use: 'acceptable use' },
    actions: { block: 'blocks the call', flag: 'flags the call' },
    noRules: 'Nothing is screened',

    version: 'Version',
    who: 'By',
    againTitle: (version: number) => `Publish the rules of version ${version} again`,
    basedOn: (version: number) => `Made from version ${version}.`,
    begunAt: (version: number) =>
      `It does not say which version it was made from. Version ${version} held when it was put in here.`,
    try: 'Try it',
    adds: (ids: string) => `Adds ${ids}.`,
    removes: (ids: string) => `Removes ${ids}.`,
    changes: (ids: string) => `Changes ${ids}.`,
    outcomes: { pass: 'passes', flag: 'flagged', block: 'blocked' },
    code: 'Code',
    byRules: 'Rules that match',
    publish: 'Publish',

    exemption: 'Lift a rule',
    exemptionOf: 'Account',
    reason: 'Reason, which the audit log of the account keeps',
    unexempt: 'End',
    unexemptTitle: (rule: string, account: string) => `Let ${rule} hold for ${account} again`,
    kinds: { 'policy.blocked': 'blocked', 'policy.flagged': 'flagged' },
    find: 'Find',
  },
} as const;

/** The texts of what operators change of an account. */
const accountWords = {
  settings: {
    title: 'Settings',
    names: {
      tier: 'Tier and limits',
      tokens: common.limits.tokens,
      shadow: 'Limits in shadow',
      tolerance: 'Tolerance for low carbon',
      usage_impacts: 'Impacts in `usage`',
      models: 'Models',
    },
    hints: {
      tier: 'The tier decides about limits, lineages and evidence packs. It holds within a second.',
      tokens:
        'Tokens of prompts and answers, which a call reserves and settles. An empty field takes what the tier has.',
      shadow: 'A limit in shadow is counted and shown, and refuses nothing.',
      tolerance:
        'How much slower or dearer a region may be than the preferred one, to be chosen because its electricity is cleaner. A call can name less.',
      usage_impacts:
        'Replies state `usage.impacts` as well, for clients written for EcoLogits or OpenGateLLM. Its numbers are those of the receipt, in kWh and kg.',
      models: 'Which models and aliases its keys can call.',
    },
    limitNames: {
      per_s: 'Calls a second',
      burst: 'Calls at once',
      per_day: 'Calls a day (UTC)',
      streams: 'Open streams',
    },
    shadows: { rate: 'calls a second, and at once', day: 'calls a day', streams: 'open streams', tokens: 'tokens' },
  },

  issuer: {
    title: 'Identity provider',
    hint: 'The admins of this account can log in to this dashboard with it.',
    none: 'No identity provider is set',
    noneHint: 'Its admins log in with credentials of their own.',
    set: 'Set an identity provider',
    change: 'Change it',
    save: 'Save',
    setHint:
      'The secret is stored encrypted and never shown. If issuer, client id, claim or domain change, the admins who logged in with it before are unbound, and their sessions end.',
    unverified: 'Nobody can log in with it before the domain is verified.',
    record: 'Ask the customer to add this record to the DNS of the domain, then verify it:',
    verify: 'Verify the domain',
    verifyHint:
      'DNS is asked for the record. If you know otherwise that the domain belongs to the account, say how you know.',
    reason: 'Reason in place of the record, which the audit log keeps (optional)',
    verifiedBy: { dns: 'by the record in DNS', operator: 'by the word of an operator' },
    unreadable: 'Its secret was set with another GW_CREDENTIALS_KEY, and nobody can log in with it. Set it again.',
    remove: 'Remove the identity provider',
    removeHint: 'Nobody can log in with it any more, and sessions that began with it end. Credentials work as before.',
  },

  webhook: {
    title: 'Webhook of budgets',
    set: 'Set an address',
    secretTitle: 'The secret of the webhook',
    remove: 'Remove the webhook',
    outcomes: { delivered: 'delivered', failed: 'failed, and is tried again', given_up: 'given up after 24 hours' },
  },
} as const;

export const words = {
  ...common,
  ...accountWords,
  ...catalogueWords,
  ...policyWords,

  fleet: {
    empty: 'Nobody has called yet. ./gw up prints a call with curl.',
  },

  accounts: {
    name: 'Name',
    id: 'Id',
    tier: 'Tier',
    states: { onboarding: 'onboarding', active: 'active', suspended: 'suspended', closed: 'closed' },
    suspend: 'Suspend',
    reinstate: 'Reinstate',
  },

  people: {
    title: 'People who can log in',
    name: 'Name',
    add: 'Add a person',
    states: { enabled: 'enabled', disabled: 'disabled' },
  },

  onboarding: {
    stage: 'Stage',
    contacts: (billing: string, technical: string) => `Billing: ${billing}. Technical: ${technical}.`,
    stages: {
      account_created: 'waits for the declaration',
      use_screening: 'use is screened',
      use_match: 'use needs a decision',
      sanctions_screening: 'names are screened',
      sanctions_match: 'names need a decision',
      manual_review: 'needs a review',
      contract_pending: 'waits for the contract',
      key_pending: 'waits for its key',
      complete: 'complete',
      rejected: 'rejected',
      expired: 'expired',
    },
    decisions: {
      'clear-match': 'No real match: go on',
      'reject-match': 'A real match: reject',
      'approve-review': 'Approve',
      'reject-review': 'Reject',
    },
  },

  live: {
    traffic: {
      rate: 'Calls',
      failed: 'Failed at the provider',
      refused: 'Refused by the gateway',
      degraded: 'Without numbers',
      chart: 'Calls a second, of the last ten minutes at most',
      sidecars: (count: number) => (count === 1 ? '1 sidecar reports' : `${count} sidecars report`),
    },
    states: { ok: 'All is well', degraded: 'Something needs a look', unavailable: 'A part is missing' },
    names: {
      postgres: 'Postgres',
      redis: 'Valkey (Redis)',
      catalogue: 'Catalogue',
      deployments_needing_operator: 'Deployments that need you',
      ledger_set_aside: 'Receipts set aside',
      receipt_integrity_faults: 'Altered receipts',
      receipt_batch_faults: 'Altered batches of receipts',
      receipt_archive_faults: 'Altered archives of receipts',
      evidence_pack_faults: 'Altered evidence packs',
      receipt_log_faults: 'Altered logs of receipts',
      ledger_witness_faults: 'Minutes that differ',
      audit_chain_faults: 'Altered audit entries',
    },
    hints: {
      postgres: 'The system of record. Without it calls go on, and receipts wait.',
      postgres_went_back:
        'It lacks what it had acknowledged, or is another one. Keys that changed since are refused: ./gw admin restore show.',
      redis: 'Limits, budgets and receipts on their way. Without it limits hold for each instance by itself.',
      catalogue: 'Models, regions and deployments are loaded.',
      deployments_needing_operator:
        'Their providers refuse the credential, have no credit for it, or do not know the model. Catalogue, Deployments, says which.',
      ledger_set_aside: 'They could not be stored and wait for a person: ./gw admin receipts.',
      receipt_integrity_faults:
        'They are not what was stored, and are not served. ./gw admin integrity lists and acknowledges them.',
      receipt_batch_faults:
        'Receipts that came in one moment are missing, or others are there: ./gw admin receipts integrity.',
      receipt_archive_faults: 'A file of an archived month is gone or altered, or its note is: ./gw admin integrity.',
      evidence_pack_faults: 'A finished pack could not be read, since it is gone or altered: ./gw admin integrity.',
      receipt_log_faults: 'The log of an account is not what was signed: ./gw admin integrity.',
      ledger_witness_faults: 'The ledger and the count of calls differ: ./gw admin receipts witness.',
      audit_chain_faults: 'Entries that were altered, put in or taken out: ./gw admin integrity.',
    },
  },
} as const;
