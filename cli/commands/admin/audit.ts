/**
 * `./gw admin audit …`.
 *
 * Invariant: the check trusts nothing that the server says of itself. It hashes each entry of each account's chain again, whether the chain
 * has a head or not. Only the server, which has the key, can tell whether an entry is sealed. A chain whose end was cut off differs only from a
 * head that somebody has noted elsewhere: `--head`.
 */
import {
  type AuditEntry,
  ChainCheck,
  type ChainFault,
  operatorChain,
  type SealFault,
} from '@gw/contract/internal/audit-chain';
import { Problem } from '@gw/stack/problem';
import type { OperatorApi } from './api.ts';
import { StepCheck } from './audit-steps.ts';
import { type AdminCall, type AdminCommand, given } from './command.ts';
import { table } from './table.ts';

const path = '/operator/v1/audit';
const pageSize = 1000;

interface Head {
  readonly chain: string;
  readonly seq: number;
  readonly hash: string;
}

/** A chain in the list of the server. If it has entries, it has to have a head. */
interface Chain extends Omit<Head, 'hash'> {
  readonly hash: string | null;
}

type Fault = ChainFault | { readonly seq: number; readonly fault: 'without a head' };

/** An entry in the list of the server. */
interface ListedEntry extends AuditEntry {
  readonly fault: SealFault | 'altered' | null;
}

interface Verified extends Chain {
  readonly faults: readonly Fault[];
}

interface Page<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
}

export const auditCommands: readonly AdminCommand[] = [
  {
    name: 'audit list',
    args: [],
    options: {
      chain: `an account's id; "${operatorChain}" unless given`,
      from: 'RFC 3339',
      to: 'RFC 3339, not included',
      actor: 'id of who did it',
      action: 'for example key.revoked',
      limit: '1 to 1000; 100 unless given',
      after: 'the seq of the last entry of the page before',
    },
    summary: 'what was done, the newest first',
    run: async (call) => {
      const query = given(call, 'chain', 'from', 'to', 'actor', 'action', 'limit', 'after');
      const page = (await call.api.get(path, query)) as Page<ListedEntry>;
      const rows = page.data.map((entry) => ({
        ...entry,
        actor: `${entry.actor.kind} ${entry.actor.name ?? entry.actor.id}`,
      }));
      return { value: page, text: table(rows, ['seq', 'at', 'actor', 'action', 'target', 'fault'], 'No entry.') };
    },
  },
  {
    name: 'audit verify',
    args: [],
    options: {
      chain: 'this chain alone',
      'head*': 'a head that was noted before, as chain:seq:hash; the chain has to hold that very entry',
    },
    summary:
      'hash every entry again, and the steps of applications, and ask for the seals; exit code 1 if one was altered, put in or taken out',
    run: verify,
  },
];

async function verify(call: AdminCall) {
  const only = call.option('chain');
  const noted = call
    .all('head')
    .map(readHead)
    .filter(({ chain }) => only === undefined || chain === only);
  const steps = only === undefined || only === operatorChain ? await StepCheck.begin(call.api) : null;
  const heads = (await readChains(call.api)).filter(({ chain }) => only === undefined || chain === only);
  const results: Verified[] = [];
  for (const head of heads) results.push(await verifyChain(call.api, head, noted, steps));
  if (steps !== null) await addStepFaults(results, steps);
  const gone = noted.filter(({ chain }) => !heads.some((head) => head.chain === chain));
  for (const head of gone) results.push({ ...head, faults: [{ seq: 1, fault: 'missing' }] });
  if (only !== undefined && results.length === 0) throw new Problem(`There is no chain ${only}.`);
  const faulty = results.filter(({ faults }) => faults.length > 0);
  const rows = results.map((result) => ({ ...result, hash: result.hash ?? '-', result: describe(result) }));
  const verdict =
    faulty.length === 0
      ? `${results.length} chains, no fault.`
      : `${faulty.length} of ${results.length} chains have faults.`;
  const text = `${table(rows, ['chain', 'seq', 'hash', 'result'], 'No entry yet.')}\n${verdict}\n`;
  return { value: results, text, exitCode: faulty.length === 0 ? 0 : 1 };
}

/** The operators' chain tells of each step of an application. */
async function addStepFaults(results: Verified[], steps: StepCheck): Promise<void> {
  const at = results.findIndex(({ chain }) => chain === operatorChain);
  const own = results[at] ?? { chain: operatorChain, seq: 0, hash: null, faults: [] };
  const faults = await steps.end(own.seq);
  if (faults.length > 0)
    results.splice(Math.max(at, 0), at === -1 ? 0 : 1, { ...own, faults: [...own.faults, ...faults] });
}

function describe({ faults, seq }: Verified): string {
  if (faults.length === 0) return seq === 0 ? 'no entry' : 'ok';
  const first = faults.slice(0, 3).map(({ fault, seq }) => `${fault} at ${seq}`);
  return `${first.join(', ')}${faults.length > 3 ? `, and ${faults.length - 3} more` : ''}`;
}

/** The entries up to the head; what was written while this reads is for the next time. */
async function verifyChain(
  api: OperatorApi,
  head: Chain,
  noted: readonly Head[],
  steps: StepCheck | null,
): Promise<Verified> {
  const check = new ChainCheck();
  const due = new Map(noted.filter(({ chain }) => chain === head.chain).map(({ hash, seq }) => [seq, hash]));
  const found: Fault[] = head.seq > 0 && head.hash === null ? [{ seq: head.seq, fault: 'without a head' }] : [];
  for (let after = 0, more = true; more; ) {
    const query = { chain: head.chain, order: 'asc', limit: pageSize, after };
    const page = (await api.get(path, query)) as Page<ListedEntry>;
    for (const entry of page.data) {
      if (entry.seq > head.seq) break;
      // Each chain holds its own entries alone: one of another chain would verify there.
      if (entry.chain !== head.chain) found.push({ seq: entry.seq, fault: 'not_linked' });
      // Whether the hash fits is found here.
      const seal = entry.fault === 'altered' ? null : entry.fault;
      check.next(entry, seal);
      if (seal === null) steps?.note(entry);
      if (due.has(entry.seq) && due.get(entry.seq) !== entry.hash) found.push({ seq: entry.seq, fault: 'altered' });
      due.delete(entry.seq);
    }
    const last = page.data.at(-1)?.seq ?? head.seq;
    more = page.has_more && last < head.seq;
    after = last;
  }
  // Without its head, a chain's true end is unknown, but gaps before the last entry can still be found.
  const missing = [...due.keys()].map((seq) => ({ seq, fault: 'missing' as const }));
  return {
    ...head,
    faults: [...check.end({ seq: head.seq, hash: head.hash ?? check.seen.hash }), ...found, ...missing],
  };
}

async function readChains(api: OperatorApi): Promise<Chain[]> {
  const heads: Chain[] = [];
  for (let after: string | undefined; ; ) {
    const page = (await api.get(`${path}/heads`, { after })) as Page<Chain>;
    heads.push(...page.data);
    if (!page.has_more) return heads;
    after = page.data.at(-1)?.chain;
  }
}

function readHead(text: string): Head {
  const [, chain, seq, hash] = /^(.+):(\d+):([0-9a-f]{64})$/.exec(text) ?? [];
  if (chain === undefined || hash === undefined)
    throw new Problem('--head takes chain:seq:hash, as audit verify prints them.');
  return { chain, seq: Number(seq), hash };
}
