/** `./gw admin receipts …`: the ledger as a whole; a receipt itself is its account's. */
import type { AdminCall, AdminCommand } from './command.ts';
import { everyPage } from './every-page.ts';
import { card, type TableRow, table } from './table.ts';

interface Fault {
  readonly receipt_id: string;
  readonly version: number;
  readonly fault: string;
}

interface Page {
  readonly data: readonly Fault[];
  readonly checked: number;
  readonly next: { readonly after_id: string; readonly after_version: number } | null;
}

export const receiptCommands: readonly AdminCommand[] = [
  {
    name: 'receipts verify',
    args: [],
    options: {},
    summary: 'check every version of every receipt against its seal; exit code 1 if one was altered',
    run: verify,
  },
  {
    name: 'receipts integrity',
    args: [],
    options: {},
    summary:
      'show how far the chain of batches is signed, and the progress, speed and next start of each check of the ledger',
    run: integrity,
  },
  {
    name: 'receipts restore',
    args: ['receipt'],
    options: { version: '1 unless given' },
    summary: 'put the genuine row of a receipt back where it was replaced by one whose seal is wrong',
    run: restore,
  },
  {
    name: 'receipts set-aside',
    args: [],
    options: {},
    summary: 'list the entries of the ledger that could not be stored, with the reasons',
    run: listSetAside,
  },
  {
    name: 'receipts retry',
    args: [],
    options: {},
    summary: 'try again to store what was set aside, after its cause is fixed',
    run: retry,
  },
  {
    name: 'receipts witness',
    args: [],
    options: {},
    summary: 'list the minutes in which receipts and counted calls differ; exit code 1 if one is extra or missing',
    run: listDiffering,
  },
];

interface Integrity {
  readonly chain: Readonly<Record<'batches' | 'receipts' | 'signed', number>> & { readonly signed_at: string | null };
  readonly sealed: Readonly<Record<'receipts' | 'sections', number>> & { readonly until: string | null };
  readonly rounds: readonly Readonly<Record<string, string | number | null>>[];
}

async function integrity({ api }: AdminCall) {
  const value = (await api.get('/operator/v1/receipts/integrity')) as Integrity;
  const { batches, receipts, signed, signed_at } = value.chain;
  const upTo = signed_at === null ? 'not signed yet' : `signed up to batch ${signed} at ${signed_at}`;
  const { sealed } = value;
  const sections =
    sealed.until === null
      ? 'none sealed yet'
      : `${sealed.sections} with ${sealed.receipts} receipts, up to ${sealed.until}`;
  const chain = `${receipts} receipts in ${batches} batches, ${upTo}.\nSections: ${sections}.\n`;
  const columns = ['kind', 'checked', 'checked_until', 'rows_per_s', 'expected_end', 'finished_at', 'next_begin'];
  // A round that rests has no number: 0 would look as if nothing had been checked.
  const rounds = value.rounds.map((round) => (round.begun_at === null ? { ...round, checked: null } : round));
  return { value, text: `${chain}\n${table(rounds, columns, '')}` };
}

async function restore(call: AdminCall) {
  const version = call.option('version');
  const body = { receipt_id: call.arg(0), ...(version === undefined ? {} : { version: Number(version) }) };
  const value = (await call.api.send('POST', '/operator/v1/receipts/restore', body)) as TableRow;
  return { value, text: card(value) };
}

const setAsidePath = '/operator/v1/receipts/set-aside';
const setAsideColumns = ['id', 'set_aside_at', 'receipt_id', 'account_id', 'reason'];

async function listSetAside({ api }: AdminCall) {
  const rows = await everyPage(api, setAsidePath);
  return { value: rows, text: table(rows, setAsideColumns, 'Nothing was set aside.') };
}

const differingColumns = ['minute', 'account_id', 'verdict', 'receipts', 'calls'];

async function listDiffering({ api }: AdminCall) {
  const rows = await everyPage(api, '/operator/v1/receipts/witness');
  const text = table(rows, differingColumns, 'Receipts and counted calls agree in every minute.');
  // Receipts that may have gone uncounted are shown, and are no fault.
  return { value: rows, text, exitCode: rows.every(({ verdict }) => verdict === 'not_witnessed') ? 0 : 1 };
}

async function retry({ api }: AdminCall) {
  const value = (await api.send('POST', `${setAsidePath}/retry`)) as {
    readonly retried: number;
    readonly left: number;
  };
  if (value.retried === 0) return { value, text: 'Nothing was set aside.\n' };
  const entries = value.retried === 1 ? '1 entry is' : `${value.retried} entries are`;
  const tried = `${entries} tried again; what still cannot be stored is set aside again.\n`;
  return { value, text: value.left === 0 ? tried : `${tried}${value.left} more are left: run this again.\n` };
}

/** The key of the seals is with the control plane alone, so it is that which checks. */
async function verify({ api }: AdminCall) {
  const faults: Fault[] = [];
  let checked = 0;
  for (let after: Page['next'] | undefined; after !== null; ) {
    const query = after === undefined ? {} : { ...after, after_version: String(after.after_version) };
    const page = (await api.get('/operator/v1/receipts/verify', query)) as Page;
    faults.push(...page.data);
    checked += page.checked;
    after = page.next;
  }
  const verdict = `${checked} versions of receipts, ${faults.length === 0 ? 'no fault' : `${faults.length} with faults`}.\n`;
  const text =
    faults.length === 0
      ? verdict
      : `${table(
          faults.map((fault) => ({ ...fault })),
          ['receipt_id', 'version', 'fault'],
          '',
        )}\n${verdict}`;
  return { value: { checked, faults }, text, exitCode: faults.length === 0 ? 0 : 1 };
}
