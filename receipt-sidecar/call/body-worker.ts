/**
 * Reads the bodies of requests and of replies on a thread of its own, one job after the other. It is bundled to a file of
 * its own, which the sidecar starts.
 *
 * Invariant: it answers with a result or with the name and the stack of an error, never with its message, which could hold a
 * piece of a client's text.
 */
import { setPriority } from 'node:os';
import { parentPort, type TransferListItem } from 'node:worker_threads';
import { type CompiledRules, compileRules } from '@gw/policy/compile';
import { findRulesAtOnce } from '@gw/policy/find-rules';
import type { RequestFacts, RequestJob } from '../admission/jobs.ts';
import { type Reading, readParsed, type Tools } from '../admission/read.ts';
import { eachBody } from '../api/behind.ts';
import { bound } from '../api/bound.ts';
import { parseRequest } from '../api/parse.ts';
import { vocabularyOf } from '../api/tokens/vocabulary.ts';
import { type ReplyJob, readReply } from '../reply/read-reply.ts';
import { errorFrames } from '../wire/threads/error-frames.ts';

/** On Linux the priority of a thread is its own: large bodies give way to the calls of this service that are small. */
const nice = 10;
if (process.platform === 'linux') setPriority(0, nice);

/** Keyed by the digest of the set. Calls under two catalogues may alternate for a while. */
const compiled = new Map<string, CompiledRules>();
const keptSets = 2;
let facts: RequestFacts | null = null;

function rulesOf({ policySha256, rules }: RequestFacts): CompiledRules {
  const known = compiled.get(policySha256);
  if (known) return known;
  const made = compileRules(rules);
  if (!made.ok) throw new Error('The rules in force cannot be made ready on a thread.');
  for (const [oldest] of compiled) if (compiled.size >= keptSets) compiled.delete(oldest);
  compiled.set(policySha256, made.value);
  return made.value;
}

async function readRequest({
  allowed,
  bytes,
  endpoint,
  exempt,
  facts: told,
  isKeyed,
  salt,
}: RequestJob): Promise<Reading> {
  if (told) facts = told;
  if (!facts) throw new Error('A thread was told nothing of the catalogue.');
  const context = { models: facts.models, rules: rulesOf(facts), allowed, exempt, salt: () => salt };
  let fault: string | undefined;
  const onFault = (error: unknown): void => {
    fault = errorFrames(error);
  };
  const tools: Tools = { find: findRulesAtOnce, vocabulary: null, clock: () => performance.now(), onFault };
  const parsed = bound(parseRequest(endpoint, bytes, undefined, isKeyed), bytes);
  const first = await readParsed(parsed, context, tools);
  if (first.outcome !== 'lacks') return first;
  const vocabulary = await vocabularyOf(first.tokenizer);
  const reading = (await readParsed(parsed, context, { ...tools, vocabulary })) as Reading;
  return fault === undefined ? reading : { ...reading, fault };
}

const encoder = new TextEncoder();

async function answer(job: RequestJob | ReplyJob): Promise<{ result: unknown; transfer: TransferListItem[] }> {
  if (job.kind === 'reply') {
    const reading = readReply(job.bytes, job.facts);
    return { result: reading, transfer: reading.ok ? [reading.clean.bytes.buffer as ArrayBuffer] : [] };
  }
  const reading = await readRequest(job);
  if (reading.outcome !== 'read') return { result: reading, transfer: [] };
  const transfer: TransferListItem[] = [];
  const bodies = eachBody(reading.bodies, reading.request.endpoint, (body) => {
    const rest = encoder.encode(String(body.rest));
    transfer.push(rest.buffer);
    return { ...body, rest };
  });
  return { result: { ...reading, bodies }, transfer };
}

parentPort?.on('message', async ({ id, job }: { id: number; job: RequestJob | ReplyJob }) => {
  try {
    const { result, transfer } = await answer(job);
    parentPort?.postMessage({ id, result }, transfer);
  } catch (error) {
    parentPort?.postMessage({ id, error: errorFrames(error) });
  }
});
