/**
 * Reads what somebody has kept to hold later packs against it: a checkpoint, or a pack.
 *
 * Invariant: a longer file than `mostHeld` is never held. Its checkpoint is used alone.
 */
import { parseStrictJson } from '@gw/contract/internal/strict-json';
import { packFormat } from '@gw/contract/pack/schema';
import { canonicalText } from './canonical.ts';
import { Followed } from './followed.ts';
import { jsonParts, notJson, parsePart } from './json-parts.ts';
import { type Manifest, manifestOf } from './manifest.ts';
import { PackFileError, readBytes } from './pack-file.ts';
import { isNode, type Node } from './receipt-node.ts';

/** In bytes. */
const mostHeld = 32 * 1024 * 1024;

/** Returns what `VerifyOptions.earlier` takes. Throws PackFileError if the file cannot be read. */
export async function earlierIn(bytes: AsyncIterable<Uint8Array>): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  const rest = readBytes(bytes);
  for (let length = 0; length <= mostHeld; ) {
    const { done, value: chunk } = await rest.next();
    if (done) return wholeOf(chunks, length);
    chunks.push(chunk);
    length += chunk.length;
  }
  async function* all() {
    yield* chunks;
    yield* rest;
  }
  const checkpoint = await checkpointOf(all());
  if (checkpoint !== null) return checkpoint;
  throw new PackFileError('is longer than 32 MiB, so that its checkpoint alone would be used, and it has none.');
}

/** Parses strictly, because other programs might show the other one of two members with one name. */
function wholeOf(chunks: readonly Uint8Array[], length: number): unknown {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  // A pack with lineages has more parts than a request may have.
  const parsed = parseStrictJson(whole, Number.POSITIVE_INFINITY);
  if (!parsed.ok) throw notJson(parsed.error.problem);
  return parsed.value;
}

/** Finds the checkpoint of a pack without reading what follows it. */
async function checkpointOf(bytes: AsyncIterable<Uint8Array>): Promise<unknown> {
  for await (const part of jsonParts(bytes, (path) => path === '' || path === 'receipts')) {
    if (part.path !== 'log') continue;
    const { value } = parsePart(part.bytes);
    return isNode(value) ? (value.checkpoint ?? null) : null;
  }
  return null;
}

export interface KeptPack {
  readonly head: Node;
  readonly receipts: readonly Node[];
  readonly excluded: readonly Node[];
  readonly manifest: unknown;
  readonly signature: unknown;
}

/** Null: this is no pack. */
export function keptPackIn(earlier: unknown): KeptPack | null {
  if (!isNode(earlier) || earlier.format !== packFormat) return null;
  const { excluded, listed: _, manifest, receipts, signature, ...head } = earlier;
  return { head, receipts: nodesIn(receipts), excluded: nodesIn(excluded), manifest, signature };
}

const nodesIn = (list: unknown): Node[] => (Array.isArray(list) ? list.filter(isNode) : []);

/** Computes the manifest again from what the pack holds. */
export function keptManifestOf({ excluded, head, receipts }: KeptPack): Manifest {
  const followed = new Followed();
  for (const node of receipts) followed.add(node, canonicalText(node));
  for (const node of excluded) followed.exclude(canonicalText(node));
  return manifestOf(head, followed.finish());
}
