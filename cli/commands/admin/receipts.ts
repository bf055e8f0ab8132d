/** `./gw admin receipts …`: the ledger as a whole; a receipt itself is its account's. */
import type { AdminCall, AdminCommand } from './command.ts';
import { table } from './table.ts';

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
];

/** Somebody with the database can have called a row anything, and given it the least number that a column holds. */
const beforeAll = -(2 ** 31);

/** The key of the seals is with the control plane alone, so it is that which checks. */
async function verify({ api }: AdminCall) {
  const faults: Fault[] = [];
  let checked = 0;
  for (let after: Page['next'] = { after_id: '', after_version: beforeAll }; after !== null; ) {
    const query = { ...after, after_version: String(after.after_version) };
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
