/** The texts of the operators' pages. */
import { accountWords } from './account-words.ts';
import { catalogueWords } from './catalogue-words.ts';
import { policyWords } from './policy-words.ts';
import { words as common } from './words.ts';

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
    altered: (count: string) => `Entries that are not what was written: ${count}`,
    head: (seq: number, hash: string) =>
      `${seq} entries. Head: ${hash}. Keep it somewhere that nobody with the database can write to.`,
  },
} as const;
