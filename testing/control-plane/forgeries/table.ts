/**
 * The exam of the ledger as a table: who holds what, what they do with it, and what names it.
 *
 * `control-plane/ledger/forgeries/` tries each row, a file for each holder; a row with `tried` is tried by that test. docs/evidence.md
 * shows the table.
 */
import { readSettings } from '@gw/contract/internal/environment';
import { refreshEveryMs } from '@gw/control-plane/internals/catalogue/index';
import { readIntegritySettings } from '@gw/control-plane/internals/ledger/integrity/config';
import { checkEveryMs } from '@gw/control-plane/internals/ledger/usage/job';
import { namedWithinMs } from '@gw/control-plane/internals/ledger/witness/job';

export const twoMinutesMs = 120_000;

/** As they are where nobody sets another. */
const everyMs = readIntegritySettings(readSettings({})).everyS * 1000;

/** The jobs and checks that name a forgery, and how long that takes at most beside the work itself. */
export const namers = {
  audit: { words: 'check of the audit log', withinMs: everyMs },
  batches: { words: 'check of the newest 2,000 batches', withinMs: everyMs },
  catalogue: { words: 'sidecars, and the publication of the catalogue', withinMs: refreshEveryMs },
  ingest: { words: 'ingest', withinMs: 0 },
  log: { words: 'check of the logs', withinMs: everyMs },
  pack: { words: '`./gw verify` of the next pack', withinMs: 0 },
  receipts: { words: 'check of the newest 1,000 receipts', withinMs: everyMs },
  rights: { words: 'refusal', withinMs: 0 },
  sums: { words: 'check of the sums', withinMs: checkEveryMs },
  witness: { words: 'comparison of the witnesses', withinMs: namedWithinMs },
} as const;
export type Namer = keyof typeof namers;

/** Nobody has a key of the gateway beside it, unless the row says so. */
export const holders = {
  redis: 'Redis',
  disk: 'the disk of a sidecar',
  extAuthz: 'ext-authz, its role and its users',
  ledger: 'a role of the control plane',
  owner: 'the database as its owner',
  viewer: 'a login that may only look',
} as const;
export type Holder = keyof typeof holders;

interface More {
  /** The test that tries it: its file, and how its title or the name of its row there begins. */
  readonly tried?: readonly [file: string, title: string];
  /** Where the two minutes do not hold. */
  readonly limit?: string;
}
/** `as`: a pattern of the fault, of the reason why it is set aside, or of the refusal; null: it has no effect. */
type ForgeryRow = readonly [from: 'new' | 'reviews', what: string, by: Namer, as: string | null, more?: More];

const fewSums = 'where there are few sums: each time, a minute, an hour and a day are made again';
const fewLogs = 'while a round through all logs takes seconds; each hour else, and never signed';
const wrongCode = 'its code is wrong';
const noReceipt = '^minute acct_demo_audit \\d+ .*: 0 receipts, 0 of them with numbers, and 1 calls';

export const forgeries = {
  redis: [
    ['reviews', 'copy an entry of the stream under another id', 'ingest', wrongCode],
    ['reviews', 'change the carbon of an entry', 'ingest', wrongCode],
    ['reviews', 'with the key of a sidecar: state numbers that the facts do not give', 'ingest', 'facts do not give'],
    ['reviews', 'hand on another receipt of a call that its sidecar did not finish', 'ingest', wrongCode],
    ['reviews', 'publish another catalogue', 'catalogue', 'no control plane has written'],
    [
      'new',
      'publish an earlier catalogue again, with its seals',
      'catalogue',
      'it is older than the one|was announced',
    ],
    [
      'reviews',
      'empty Redis',
      'ingest',
      null,
      { tried: ['receipt-sidecar/ledger/in-stream.pg.test.ts', 'Redis that is emptied while connected'] },
    ],
    ['new', 'change the columns of an entry alone, which sums read', 'ingest', wrongCode],
    ['new', 'seal an entry with a key that is out of use, under any number', 'ingest', 'accepted|its code is wrong'],
    ['new', 'end a call under way', 'ingest', 'its code is wrong|its call is under way'],
    ['new', 'change an entry that was set aside, before it is tried again', 'ingest', wrongCode],
    ['new', 'take an entry out of the stream', 'witness', noReceipt],
    ['new', 'take a call under way away, so that usage calls itself complete without it', 'witness', noReceipt],
    ['new', 'make up heads of the chain of batches', 'batches', null],
  ],
  disk: [
    ['reviews', 'change a line of the spool, with a checksum that fits', 'ingest', wrongCode],
    ['new', 'take the spool away', 'witness', noReceipt],
    ['new', 'change the catalogue that the sidecar keeps there', 'catalogue', 'no control plane has written'],
  ],
  extAuthz: [
    ['reviews', 'make oneself a token of an operator', 'rights', 'permission denied'],
    ['reviews', 'chain an audit entry', 'rights', 'permission denied'],
    ['reviews', 'settle a receipt', 'rights', 'permission denied'],
    ['reviews', 'plant a row of a log', 'rights', 'permission denied'],
    ['reviews', 'store a version of a receipt', 'rights', 'permission denied'],
    ['new', 'state calls without the key', 'witness', '^minute witness \\S+ 2 a statement .* was altered'],
    [
      'new',
      'state with the key that no call was made',
      'witness',
      '^minute acct_demo_audit .*: 1 receipts, 1 of them with numbers, and 0 calls',
    ],
    [
      'new',
      'as the user of Redis: take a receipt of one’s choice out of the stream, or call it ingested',
      'rights',
      'NOPERM',
      { tried: ['stack/services/valkey-users.pg.test.ts', 'say that a receipt is ingested'] },
    ],
  ],
  ledger: [
    ['reviews', 'chain an audit entry', 'audit', '^audit acct_demo_audit \\d+ forged'],
    ['reviews', 'settle a receipt with a made-up seal', 'receipts', '^receipt \\S+ 1 (altered|forged)'],
    ['reviews', 'hide a receipt behind a version 2', 'receipts', '^receipt \\S+ 2 (altered|forged)'],
    ['reviews', 'plant the first row of a log', 'log', '^log acct_demo_audit 0 forged', { limit: fewLogs }],
    ['reviews', 'stop the checks until 2099', 'batches', 'are missing'],
    ['reviews', 'as any role: DELETE from what only grows', 'rights', 'permission denied'],
    ['reviews', 'as any role: UPDATE it', 'rights', 'permission denied'],
    ['reviews', 'as any role: TRUNCATE it', 'rights', 'permission denied'],
    ['reviews', 'as any role: DROP it', 'rights', 'must be owner'],
    ['reviews', 'as any role: switch its triggers off', 'rights', 'must be owner|permission denied'],
    ['new', 'plant a signed head', 'batches', '^batch heads 999999 signed, and missing or another'],
    ['new', 'sign the newest head with another key', 'batches', '^batch heads \\d+ not signed by the gateway'],
    ['new', 'put another seal on a batch', 'rights', 'append-only'],
    ['new', 'put an older genuine row back', 'receipts', ' 1 rolled back'],
    ['new', 'call a fault mended', 'receipts', '^receipt \\S+ 1 altered'],
    ['new', 'acknowledge a fault', 'receipts', '^receipt \\S+ 1 altered'],
    ['new', 'change the sums of a minute', 'sums', 'sums of a minute of usage were altered', { limit: fewSums }],
  ],
  owner: [
    ['reviews', 'change a number, in the column and in the receipt', 'receipts', ' 1 altered'],
    ['reviews', 'halve the column alone, which sums read', 'receipts', ' 1 altered'],
    [
      'reviews',
      'change a receipt, with a digest that fits',
      'receipts',
      ' 1 forged',
      {
        tried: ['control-plane/ledger/integrity/altered-receipts.pg.test.ts', 'the body, with a digest that fits'],
      },
    ],
    ['reviews', 'move a receipt to another account', 'receipts', ' 1 altered'],
    ['reviews', 'delete a receipt of this hour', 'batches', '^batch batches 1 1 of its 3 receipts, of .* are missing'],
    ['reviews', 'change an old audit entry', 'audit', '^audit acct_demo_audit 1 altered'],
    ['reviews', 'go back to a state of before', 'batches', '^batch heads 2 cut off'],
    ['reviews', 'detach the partition of a month', 'batches', '^batch batches 1 3 of its 3 receipts'],
    [
      'reviews',
      'change a receipt that is logged',
      'pack',
      'urn:gw:receipt',
      { tried: ['control-plane/ledger/evidence/proven-packs.pg.test.ts', 'a receipt that was altered is named'] },
    ],
    [
      'reviews',
      'delete a receipt that is logged',
      'pack',
      'the entry 7 of the log',
      {
        tried: [
          'control-plane/ledger/evidence/proven-packs.pg.test.ts',
          'a receipt that was taken out of the database is named',
        ],
      },
    ],
    [
      'reviews',
      'delete it with its entry',
      'pack',
      'as it was in the earlier pack',
      {
        tried: ['control-plane/ledger/evidence/proven-packs.pg.test.ts', 'also if its entry went too'],
      },
    ],
    [
      'reviews',
      'cut the log, and make it anew',
      'pack',
      'the log tells two stories',
      {
        tried: ['control-plane/ledger/evidence/proven-packs.pg.test.ts', 'a log that was made anew, with keys and all'],
      },
    ],
    ['new', 'move a receipt in the order of arrival', 'batches', '^batch rcpt_\\S+ 1 in no batch'],
    ['new', 'copy a genuine row under another id', 'batches', '1 receipts more than the 3 that came with it'],
  ],
  viewer: [
    [
      'reviews',
      'have a genuine receipt called altered',
      'rights',
      'invalid_after_id',
      {
        tried: [
          'control-plane/ledger/integrity/altered-receipts.pg.test.ts',
          'a reader who begins anywhere is told no fault that is none',
        ],
      },
    ],
  ],
} as const satisfies Readonly<Record<Holder, readonly ForgeryRow[]>>;

type Rows<H extends Holder> = (typeof forgeries)[H][number];
type TriedElsewhere = readonly [unknown, unknown, unknown, unknown, { readonly tried: unknown }];
/** The forgeries that the file of a holder has to try. */
export type Tried<H extends Holder> = Exclude<Rows<H>, TriedElsewhere>[1];

export interface Forgery extends More {
  readonly number: number;
  readonly holder: Holder;
  readonly from: ForgeryRow[0];
  readonly what: string;
  readonly by: Namer;
  readonly as: string | null;
}

/** All rows, in the order of their numbers. */
export const allForgeries: readonly Forgery[] = (Object.keys(holders) as Holder[])
  .flatMap((holder) => (forgeries[holder] as readonly ForgeryRow[]).map((row) => [holder, row] as const))
  .map(([holder, [from, what, by, as, more]], at) => ({ number: at + 1, holder, from, what, by, as, ...more }));
