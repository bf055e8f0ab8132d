/** `./gw verify`: whether an evidence pack holds, without the gateway and without a network; or a receipt that was kept. */
import { createHash } from 'node:crypto';
import { createReadStream, writeFileSync } from 'node:fs';
import { errorText } from '@gw/contract/internal/error-text';
import { harmless } from '@gw/evidence/harmless';
import { nameToTrust, sealWords } from '@gw/evidence/seal-words';
import { type Verdict, verdictOf } from '@gw/evidence/verdict';
import type { PackVerification, SealCheck, VerifyOptions } from '@gw/evidence/verify';
import { wholeText } from '@gw/evidence/whole-text';
import { Problem } from '@gw/stack/problem';
import { bytesIn, read } from './verify-files.ts';
import { type TrustOptions, trustIn } from './verify-trust.ts';
import { cosignedText, witnessesIn } from './witnesses.ts';

interface Options extends TrustOptions {
  readonly reply?: string;
  readonly request?: string;
  readonly proof?: string;
  readonly url?: string;
  readonly earlier?: string;
  readonly witness?: readonly string[];
  readonly account?: string;
  readonly statement?: string;
  readonly html?: string;
  readonly recomputed?: boolean;
  readonly json?: boolean;
  readonly verbose?: boolean;
}

/** Resolves with the exit code. */
export async function verify(file: string | undefined, values: Options): Promise<number> {
  const trust = trustIn(values);
  const { account } = values;
  const witnesses = await witnessesIn(values.witness ?? []);
  if (values.receipt !== undefined) return verifyKeptReceipt(values.receipt, values, { trust, witnesses });
  if (file === undefined) throw new Problem('Name the file of a pack, or of a kept receipt: --receipt FILE.');
  const options = { trust, witnesses, ...(account !== undefined && { account }) };
  if (values.statement !== undefined && witnesses.length > 0)
    throw new Problem('A table has no checkpoint that a witness could have cosigned: leave --witness out.');
  if (values.statement !== undefined) return verifyTable(file, values.statement, options, values);
  // Loaded here, so that the other commands start as fast as without them.
  const [{ earlierIn }, { verifyPack }] = await Promise.all([
    import('@gw/evidence/kept-pack'),
    import('@gw/evidence/verify'),
  ]);
  const earlier = values.earlier === undefined ? undefined : await aboutFile(values.earlier, earlierIn);
  const onFault = values.verbose ? showStack : () => {};
  const { head, ...result } = await aboutFile(file, (pack) => verifyPack(pack, { ...options, earlier, onFault }));
  if (values.html !== undefined) await writePage(values.html, head, result);
  process.stdout.write(values.json ? `${JSON.stringify(result, null, 2)}\n` : textOf(result));
  return exitCode(verdictOf(result), result.onlyStated !== undefined, values);
}

const exitCode = (verdict: Verdict, isOnlyStated: boolean, { recomputed = false }: Options): number =>
  exitCodes[verdict === 'holds' && recomputed && isOnlyStated ? 'ask' : verdict];

async function verifyKeptReceipt(
  file: string,
  values: Options,
  against: Required<Pick<VerifyOptions, 'trust' | 'witnesses'>>,
): Promise<number> {
  const { json, proof, reply, request, url } = values;
  if (request !== undefined && reply === undefined) throw new Problem('--request FILE needs --reply FILE.');
  const [{ verifyKept }, { keptAnswer }] = await Promise.all([
    import('./verify-receipt.ts'),
    import('./verify-answer.ts'),
  ]);
  const answer = reply === undefined ? null : keptAnswer({ receipt: file, reply, request }, bytesIn);
  const { result, text, verdict } = await verifyKept({
    file,
    ...against,
    key: process.env.GW_KEY,
    answer,
    kept: answer === null ? read(file) : answer.receipt,
    ...(proof !== undefined && { proof: read(proof) }),
    ...(url !== undefined && { url }),
  });
  process.stdout.write(json ? `${JSON.stringify(result, null, 2)}\n` : text);
  // A receipt alone has no lineage.
  return exitCode(verdict, true, values);
}

async function verifyTable(
  file: string,
  statementFile: string,
  { account, trust }: VerifyOptions,
  values: Options,
): Promise<number> {
  const { verifyTable: verified } = await import('@gw/evidence/table-statement');
  const stated = read(statementFile);
  const digest = createHash('sha256');
  await aboutFile(file, async (bytes) => {
    for await (const chunk of bytes) digest.update(chunk);
  });
  const found = await verified(digest.digest('hex'), stated, trust);
  const { signature, statement } = found;
  const isOther = account !== undefined && statement.account !== account;
  const other = { receipt: null, field: 'account', expected: account ?? '', found: String(statement.account) };
  const mismatches = [...found.mismatches, ...(isOther ? [other] : [])];
  const result = { ...found, mismatches };
  const lines = [
    `receipts    ${statement.receipts ?? 'unknown'}, not recomputed: a table has no lineages and no proofs`,
    ...sealText(found),
    `mismatches  ${mismatches.length}`,
    ...mismatches.map(({ expected, field, found }) => `  table ${field}: expected ${expected}, found ${found}`),
  ];
  process.stdout.write(values.json ? `${JSON.stringify(result, null, 2)}\n` : `${lines.map(harmless).join('\n')}\n`);
  return exitCode(verdictOf({ mismatches, signature }), true, values);
}

async function aboutFile<T>(file: string, work: (bytes: AsyncIterable<Uint8Array>) => Promise<T>): Promise<T> {
  const { PackFileError, readBytes } = await import('@gw/evidence/pack-file');
  try {
    return await work(readBytes(createReadStream(file, { highWaterMark: 1024 * 1024 })));
  } catch (error) {
    throw error instanceof PackFileError ? new Problem(`${file} ${error.message}`) : error;
  }
}

function showStack(error: unknown): void {
  const stack = error instanceof Error ? String(error.stack) : String(error);
  process.stderr.write(`${stack.split('\n').map(harmless).join('\n')}\n`);
}

async function writePage(
  file: string,
  head: Readonly<Record<string, unknown>>,
  result: PackVerification,
): Promise<void> {
  const { evidencePage } = await import('@gw/evidence/page');
  try {
    writeFileSync(file, evidencePage(head, result));
  } catch (error) {
    throw new Problem(`${file} cannot be written: ${errorText(error)}`);
  }
}

const exitCodes: Readonly<Record<Verdict, number>> = { holds: 0, fails: 1, unauthenticated: 2, ask: 3 };

const signatures: Readonly<Record<PackVerification['signature'], string>> = {
  trusted: 'by a key that you trust',
  unauthenticated: 'unauthenticated: no trusted key was given (--jwks, --key, --ca with --signer)',
  unknown_key: 'by none of the keys that you trust',
  invalid: 'does not fit',
};
const mostShown = 50;

function sealText(seal: SealCheck): string[] {
  const name = nameToTrust(seal);
  const text =
    name === null
      ? signatures[seal.signature]
      : `unauthenticated: the certificate names ${name}; if it should, say so by --signer 'O=…'`;
  return [`signature   ${text}`, ...sealWords(seal).map((each) => `  ${each}`)];
}

function textOf(result: PackVerification): string {
  const { about, excluded, log, mismatches, onlyStated = 0, receipts, recomputed } = result;
  const { untold = 0, untoldExcluded = 0 } = result;
  const lines = [
    `account     ${about.account ?? 'not stated'}`,
    `selection   ${about.selection}`,
    ...(about.isFiltered ? ['  a part of them: that no other belongs to it, the log does not prove'] : []),
    `receipts    ${receipts}`,
    ...listed(
      excluded,
      ({ reason, receipt_id, version }) => `${receipt_id} ${version ?? ''} is left out: ${reason}`,
      untoldExcluded,
    ),
    `numbers     ${recomputed} recomputed, ${receipts - recomputed} not recomputed`,
    ...(onlyStated === 0
      ? []
      : [
          `  the numbers of ${onlyStated} are only stated: the pack has no lineages of them (include_lineage), so that nothing shows that they are right`,
        ]),
    ...routingText(result.routing),
    `log         ${log.proven} proven, ${receipts - log.proven} not in it yet`,
    ...(log.vkey === null ? [] : [`  of ${log.vkey}`]),
    ...cosignedText(log),
    `whole       ${wholeText(result)}`,
    ...(log.archived.length === 0 ? [] : [`  archived months: ${log.archived.join(', ')}`]),
    ...(log.fault === null ? [] : [`  there are no proofs: ${log.fault}`]),
    ...listed(log.late, (receipt) => `${receipt} is new, and belongs before the earlier pack or checkpoint`),
    ...listed(log.unlogged, (receipt) => `${receipt} is not in the log, although it should be by now`),
    ...listed(log.changed, (receipt) => `${receipt} has changed since the earlier pack or checkpoint`),
    ...(log.untold === 0 ? [] : [`  and ${log.untold} more receipts that have to be asked about`]),
    ...sealText(result),
    `mismatches  ${mismatches.length + untold}`,
    ...listed(
      mismatches,
      ({ expected, field, found, receipt }) => `${receipt ?? 'pack'} ${field}: expected ${expected}, found ${found}`,
      untold,
    ),
  ];
  return `${lines.map(harmless).join('\n')}\n`;
}

function routingText({ choices, pins, savings, traces }: PackVerification['routing']): string[] {
  const unanswered = pins.unanswered === 0 ? '' : `, ${pins.unanswered} answered by no region`;
  const stated = `${savings.stated} stated, ${savings.grams} g in all; ${savings.recomputed} recomputed from facts`;
  return [
    `pins        ${pins.asked} asked for, ${pins.held} held${unanswered}`,
    `routing     ${traces === 0 ? 'no traces in this pack' : `${traces} traces, ${choices} choices by carbon`}`,
    ...(traces === 0 ? [] : [`savings     ${stated}`]),
  ];
}

/** `untold`: how many more there are that are not in the list. */
function listed<T>(all: readonly T[], lineOf: (each: T) => string, untold = 0): string[] {
  const more = all.length + untold - mostShown;
  const lines = all.slice(0, mostShown).map((each) => `  ${lineOf(each)}`);
  if (more <= 0) return lines;
  return [...lines, `  and ${more} more; --json has ${untold === 0 ? 'all of them' : `${all.length} of them`}`];
}
