/** The texts of the operators' pages, in English. */
import { enAccount } from './en-account.ts';
import { enCatalogue } from './en-catalogue.ts';
import { enPolicy } from './en-policy.ts';

export const enOperator = {
  ...enAccount,
  ...enCatalogue,
  ...enPolicy,

  fleet: {
    empty: 'Nobody has called yet. ./gw up prints a call with curl.',
  },

  accounts: {
    name: 'Name',
    id: 'Id',
    tier: 'Tier',
    since: 'Since',
    search: 'Name or id',
    states: { onboarding: 'onboarding', active: 'active', suspended: 'suspended', closed: 'closed' },
    empty: 'No account',
    emptyHint: 'None matches. A new customer begins with an application: ./gw admin onboarding.',
    back: 'All accounts',
    usage: 'Usage',
    suspend: 'Suspend',
    suspendHint:
      'Its inference is refused within a second, and it gets no new keys. It can still read and revoke keys, and an admin can reinstate it.',
    reinstate: 'Reinstate',
    reinstateHint: 'Its inference is taken again within a second.',
    reason: 'Reason, which the audit log keeps',
    acceptsMatch:
      'Although a screening of the name found something, or is not done: I have looked at it under Onboarding',
  },

  people: {
    title: 'People who can log in',
    name: 'Name',
    add: 'Add a person',
    states: { enabled: 'enabled', disabled: 'disabled' },
    secondFactor: 'Second factor',
    factorSet: 'asked for',
    factorUnset: 'none',
    empty: 'Nobody can log in for this account',
    emptyHint: 'People of the customer manage keys and see usage, receipts and evidence of this account alone.',
    credentialTitle: 'The credential',
    credentialOnce: 'It is shown this once. Hand it to the person.',
    credentialDone: 'I have handed it on',
  },

  onboarding: {
    stage: 'Stage',
    since: 'Since',
    expires: 'Expires',
    empty: 'No application',
    emptyHint: 'Take one in with ./gw admin onboarding.',
    back: 'All applications',
    contacts: (billing: string, technical: string) => `Billing: ${billing}. Technical: ${technical}.`,
    given: 'Given',
    found: 'Found',
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
    reason: 'Reason, at least 10 characters; the audit log keeps it',
    decisionHint: 'The decision is final for this step, and stands in the audit log with your name and the reason.',
  },

  live: {
    traffic: {
      rate: 'Calls',
      failed: 'Failed at the provider',
      refused: 'Refused by the gateway',
      degraded: 'Without numbers',
      latency: 'Reply of the provider, median',
      overhead: 'Of the gateway, median',
      chart: 'Calls a second, of the last ten minutes at most',
      hint: 'Over the last ten seconds. Calls are those that reached a provider; it fails also by refusing what a request asks for. Refused by the gateway are requests of any kind that reached none: without a valid key, over a limit, malformed …',
      sidecars: (count: number) => (count === 1 ? '1 sidecar reports' : `${count} sidecars report`),
      errors: (rate: string) => `${rate} failed in the gateway`,
      aborted: (rate: string) => `${rate} left by their client`,
      streams: (count: string) => `${count} open streams`,
      p99: (ms: string) => `99 of 100 within ${ms} ms`,
      noCall: 'no call has ended',
    },
    what: 'What',
    means: 'What it means',
    there: 'there',
    away: 'away',
    yesNo: (isSo: boolean) => (isSo ? 'yes' : 'no'),
    every: (seconds: number) => `Read again every ${seconds} s.`,
    states: { ok: 'All is well', degraded: 'Something needs a look', unavailable: 'A part is missing' },
    names: {
      postgres: 'Postgres',
      redis: 'Valkey (Redis)',
      catalogue: 'Catalogue',
      ledger_waiting: 'Receipts that wait',
      ledger_set_aside: 'Receipts set aside',
      receipt_integrity_faults: 'Altered receipts',
      receipt_log_faults: 'Altered logs of receipts',
      audit_chain_faults: 'Altered audit entries',
      integrity_check_overdue: 'Check overdue',
    },
    hints: {
      postgres: 'The system of record. Without it calls go on, and receipts wait.',
      redis: 'Limits, budgets and receipts on their way. Without it limits hold for each instance by itself.',
      catalogue: 'Models, regions and deployments are loaded.',
      ledger_waiting: 'On their way to Postgres; a number that keeps growing means that Postgres is too slow or away.',
      ledger_set_aside: 'They could not be stored and wait for a person: ./gw admin receipts.',
      receipt_integrity_faults: 'They are not what was stored, and are not served.',
      receipt_log_faults: 'The log of an account is not what was signed.',
      audit_chain_faults: 'Entries that were altered, put in or taken out.',
      integrity_check_overdue: 'Whether the last full check of the records is too long ago.',
    },
  },

  chains: {
    chain: 'Chain',
    whole: 'All chains are whole',
    altered: (count: string) => `Entries that are not what was written: ${count}`,
    unknown: 'Nobody has checked the chains yet',
    checkHint:
      'Each entry holds the digest of the one before it and a seal. A job of the gateway goes through all of them; ./gw admin audit verify does it at once.',
    alteredHint:
      'They were altered, put in or taken out. The log of the control plane names each, and so does ./gw admin audit verify.',
    overdue: 'The last full check is too long ago: look at the log of the control plane.',
    head: (seq: number, hash: string) =>
      `${seq} entries. Head: ${hash}. Keep it somewhere that nobody with the database can write to.`,
  },
} as const;
