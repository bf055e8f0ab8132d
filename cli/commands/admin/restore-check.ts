/** `./gw admin restore check`: what a restored Postgres lacks, by what outlived it. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { errorText } from '@gw/contract/internal/error-text';
import { Problem } from '@gw/stack/problem';
import type { AdminCall, AdminCommand } from './command.ts';
import { type TableRow, table } from './table.ts';

const path = '/operator/v1/restore';

export const restoreCheckCommands: readonly AdminCommand[] = [
  {
    name: 'restore check',
    args: [],
    options: { receipts: 'a file of receipts that clients have kept: one id, reply or receipt (JSON) per line' },
    summary:
      'compare a restored Postgres with Valkey, the object store and kept receipts; exit code 1 if it lacks something',
    run: check,
  },
];

interface Check {
  readonly findings: readonly TableRow[];
  readonly receipts_waiting: number;
  readonly receipts_set_aside: number;
}

interface ReceiptState {
  readonly id: string;
  readonly is: string;
  readonly version: number | null;
}

async function check(call: AdminCall) {
  const value = (await call.api.get(`${path}/check`)) as Check;
  const file = call.option('receipts');
  const compared = file === undefined ? null : await compareReceipts(call, file);
  const { findings, receipts_set_aside: setAside, receipts_waiting: waiting } = value;
  const lines = [
    table(findings, ['id', 'finding', 'cure'], 'Postgres has everything that Valkey and the object store know about.'),
    `${waiting} receipts are on their way to Postgres, ${setAside} are set aside.\n`,
    ...(compared === null ? [] : [receiptsText(compared)]),
  ];
  const isWhole = findings.length === 0 && (compared === null || compared.lacking.length === 0);
  return { value: { ...value, receipts: compared }, text: lines.join('\n'), exitCode: isWhole ? 0 : 1 };
}

interface Compared {
  readonly looked_for: number;
  readonly archived: number;
  readonly waiting: number;
  /** Receipts that are gone, or stored in an older version than the client has. */
  readonly lacking: readonly TableRow[];
}

const receiptsText = ({ archived, lacking, looked_for, waiting }: Compared): string =>
  [
    table(lacking, ['receipt_id', 'kept_version', 'stored_version'], 'No kept receipt is missing.'),
    `${looked_for} kept receipts: ${lacking.length} missing or older here, ${waiting} on their way, ${archived} in archived months, which are not compared here.\n`,
  ].join('\n');

const atOnce = 1000;
const progressEvery = 20_000;

/** Reads and asks piece by piece, so that a file of any length takes little memory. */
async function compareReceipts({ api, progress }: AdminCall, file: string): Promise<Compared> {
  const lacking: TableRow[] = [];
  const count = { looked_for: 0, archived: 0, waiting: 0 };
  let piece = new Map<string, number>();
  const ask = async (): Promise<void> => {
    if (piece.size === 0) return;
    const kept = piece;
    piece = new Map();
    const { data } = (await api.send('POST', `${path}/receipts`, { ids: [...kept.keys()] })) as {
      readonly data: readonly ReceiptState[];
    };
    for (const { id, is, version } of data) {
      const keptVersion = kept.get(id) ?? 1;
      if (is === 'archived') count.archived += 1;
      else if (is === 'waiting') count.waiting += 1;
      else if (version === null || version < keptVersion)
        lacking.push({ receipt_id: id, kept_version: keptVersion, stored_version: version });
    }
    const before = count.looked_for;
    count.looked_for += kept.size;
    if (Math.floor(count.looked_for / progressEvery) > Math.floor(before / progressEvery))
      progress(`${count.looked_for} receipts compared, ${lacking.length} missing or older.\n`);
  };
  for await (const [id, version] of keptReceipts(file)) {
    piece.set(id, Math.max(version, piece.get(id) ?? 1));
    if (piece.size === atOnce) await ask();
  }
  await ask();
  if (count.looked_for === 0)
    throw new Problem(`${file} contains no receipts. Expected ids (rcpt_…) or receipts as JSON.`);
  return { ...count, lacking };
}

const receiptId = /\brcpt_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
/** In a receipt as JSON the version stands near its id. */
const versionBehind = /^"[^{}]{0,200}?"version":\s*(\d{1,6})\b/;

/** The ids in a file, each with the version that stands behind it in JSON, or 1. */
async function* keptReceipts(file: string): AsyncGenerator<readonly [id: string, version: number]> {
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
  try {
    for await (const line of lines)
      for (const match of line.matchAll(receiptId)) {
        const behind = line.slice(match.index + match[0].length, match.index + match[0].length + 300);
        yield [match[0], Number(versionBehind.exec(behind)?.[1] ?? 1)];
      }
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(`${file} cannot be read (${errorText(error)}).`);
  }
}
