/** `./gw verify --receipt`: whether the gateway proves a receipt that a client has kept. */
import { errorText } from '@gw/contract/internal/error-text';
import { isConfidentialUrl } from '@gw/contract/internal/loopback';
import { parseStrictJson } from '@gw/contract/internal/strict-json';
import type { AnswerCheck } from '@gw/evidence/check-answer';
import { harmless } from '@gw/evidence/harmless';
import type { ReceiptVerification, Served } from '@gw/evidence/kept-receipt';
import type { NoteKey } from '@gw/evidence/note';
import type { Verdict } from '@gw/evidence/verdict';
import type { Trust } from '@gw/evidence/verify';
import { Problem } from '@gw/stack/problem';
import { holds, type KeptAnswer, linesOf } from './verify-answer.ts';
import { cosignedText } from './witnesses.ts';

export interface ReceiptOptions {
  /** The kept file, as JSON. */
  readonly kept: unknown;
  readonly file: string;
  /** A kept reply of `…/proof`; absent: it is asked for at `url`. */
  readonly proof?: unknown;
  readonly url?: string;
  /** With which the gateway at `url` is asked. */
  readonly key: string | undefined;
  readonly trust: Trust;
  readonly witnesses: readonly NoteKey[];
  /** Null: no answer is compared. */
  readonly answer: Pick<KeptAnswer, 'check'> | null;
}

type Result = ReceiptVerification & { readonly answer?: AnswerCheck };

export async function verifyKept(
  options: ReceiptOptions,
): Promise<{ readonly verdict: Verdict; readonly result: Result; readonly text: string }> {
  const { receiptIn, receiptVerdict, verifyReceipt } = await import('@gw/evidence/kept-receipt');
  const receipt = receiptIn(options.kept);
  if (receipt === null)
    throw new Problem(
      `${options.file} is neither a receipt nor a reply with one in \`gw\`. Of a stream, keep the event that has \`gw\`.`,
    );
  const { id, version } = receipt;
  const { answer, proof, trust, url, witnesses } = options;
  if (answer !== null && proof === undefined && url === undefined) {
    const result = { ...unproven(String(id), Number(version)), answer: answer.check };
    return { verdict: holds(answer.check) ? 'unauthenticated' : 'fails', result, text: textOf(result) };
  }
  const served = proof === undefined ? await ask(options, String(id), Number(version)) : { proof };
  const result = await verifyReceipt(receipt, served, trust, witnesses);
  const verdict = receiptVerdict(result);
  if (answer === null) return { verdict, result, text: textOf(result) };
  const both = { ...result, answer: answer.check };
  return { verdict: holds(answer.check) ? verdict : 'fails', result: both, text: textOf(both) };
}

const unproven = (receipt: string, version: number): ReceiptVerification => ({
  receipt,
  version,
  batch: null,
  log: null,
  mismatches: [],
  notes: ['the receipt itself was not proven: --proof FILE, or --url URL of the gateway with GW_KEY set'],
});

async function ask(
  { key, url: given }: Pick<ReceiptOptions, 'key' | 'url'>,
  id: string,
  version: number,
): Promise<Served> {
  if (given === undefined || !key)
    throw new Problem('A kept receipt needs its proof: --proof FILE, or --url URL of the gateway with GW_KEY set.');
  const url = given.replace(/\/(v1\/?)?$/, '');
  if (!isConfidentialUrl(url))
    throw new Problem('--url has to be https, or http on loopback: anybody on the way could read the key.');
  const get = async (path: string): Promise<unknown> => {
    const reply = await fetch(`${url}${path}`, {
      headers: { authorization: `Bearer ${key}` },
      redirect: 'error',
      signal: AbortSignal.timeout(30_000),
    }).catch((cause: unknown) => {
      throw new Problem(
        `The gateway at ${url} does not answer (${errorText(cause instanceof Error ? (cause.cause ?? cause) : cause)}).`,
      );
    });
    if (reply.status === 404) {
      await reply.body?.cancel();
      return null;
    }
    const bytes = await bodyOf(reply, url);
    if (!reply.ok)
      throw new Problem(
        `The gateway at ${url} answers ${reply.status} to ${path}: ${harmless(bytes.toString().slice(0, 300))}`,
      );
    const parsed = parseStrictJson(bytes, mostBytes);
    if (!parsed.ok) throw new Problem(`The gateway at ${url} answers no JSON to ${path}.`);
    return parsed.value;
  };
  const path = `/v1/gw/receipts/${encodeURIComponent(id)}`;
  const [proof, newest, same] = await Promise.all([
    get(`${path}/proof?version=${version}`),
    get(path),
    get(`${path}?version=${version}`),
  ]);
  return { proof, newest, same };
}

const mostBytes = 16 * 1024 * 1024;

/** Reads no more than is allowed, however much comes. */
async function bodyOf(reply: Response, url: string): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of reply.body ?? []) {
      length += part.length;
      if (length > mostBytes) break;
      parts.push(part);
    }
  } catch (cause) {
    throw new Problem(`The reply of the gateway at ${url} broke off (${errorText(cause)}).`);
  }
  if (length > mostBytes) throw new Problem(`The gateway at ${url} answers with more than ${mostBytes} bytes.`);
  return Buffer.concat(parts);
}

const signatures = {
  trusted: 'signed by a key that you trust',
  unauthenticated: 'signed, but no trusted key was given (--jwks, --key)',
  unknown_key: 'signed by none of the keys that you trust',
  invalid: 'its signature does not fit',
} as const;

function textOf({ answer, batch, log, mismatches, notes, receipt, version }: Result): string {
  const lines = [
    `receipt     ${receipt}, version ${version}`,
    ...(answer === undefined ? [] : linesOf(answer)),
    batch === null
      ? 'chain       not proven'
      : `chain       since ${batch.at}, in batch ${batch.number}, ${batch.signature === null ? 'not signed yet' : signatures[batch.signature]}`,
    log === null
      ? 'log         not in it yet'
      : `log         at index ${log.index} of ${log.entries}, ${signatures[log.signature]}`,
    ...(log === null ? [] : [`  of ${log.vkey}`, ...cosignedText(log)]),
    ...notes.map((note) => `  ${note}`),
    `mismatches  ${mismatches.length}`,
    ...mismatches.map((mismatch) => `  ${mismatch}`),
  ];
  return `${lines.map(harmless).join('\n')}\n`;
}
