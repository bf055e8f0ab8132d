/**
 * Checks whether a pack continues a checkpoint, or a pack, that somebody has kept.
 *
 * Invariants: a receipt of a kept pack that has changed or is gone is named, whatever the log says of it. A kept pack is believed only as far
 * as it is signed. Nothing of the pack that is checked is kept.
 */
import { CappedList } from './capped-list.ts';
import { type Checkpoint, checkpointIn } from './checkpoint.ts';
import { checkManifest } from './differences.ts';
import { checkKeptHours } from './kept-hours.ts';
import { type KeptPack, keptManifestOf, keptPackIn } from './kept-pack.ts';
import { checkSigned, type Entry, entryOf, hasAllOfItsTime, isLongOver, leafOf, timeOf } from './log-entries.ts';
import { isConsistent } from './merkle.ts';
import { isNode, type Node, ofPack, type PackMismatch, receiptOf, shown } from './receipt-node.ts';
import { checkSeal, type SealTrust } from './seal.ts';
import { maySettle } from './settled.ts';
import { StoryCheck, twoStories } from './two-stories.ts';

interface CheckedPack {
  readonly head: Node;
  readonly checkpoint: Checkpoint | null;
}

interface SinceEarlier {
  readonly mismatches: readonly PackMismatch[];
  readonly late: readonly string[];
  readonly changed: readonly string[];
  /** How many more receipts belong into these lists. */
  readonly untold: number;
}

const expected = 'as it was in the earlier pack';

export class EarlierCheck {
  readonly #earlier: unknown;
  readonly #kept: Checkpoint | null;
  readonly #pack: KeptReceipts | null;
  readonly #stories: StoryCheck | null;
  readonly #late = new CappedList<string>();
  readonly #settled = new CappedList<string>();

  constructor(earlier: unknown) {
    const pack = keptPackIn(earlier);
    this.#earlier = earlier;
    this.#pack = pack === null ? null : new KeptReceipts(pack);
    this.#kept = checkpointIn(pack === null ? earlier : isNode(pack.head.log) ? pack.head.log.checkpoint : null);
    this.#stories = pack === null || this.#kept === null ? null : new StoryCheck(pack, this.#kept);
  }

  /** `size`: the entries of the log of the pack; 0: it has no log. */
  add(entry: Entry, size: number): void {
    const id = String(entry.node.id);
    const before = this.#pack?.compare(entry.node);
    this.#stories?.add(entry, size);
    if (isLate(entry, this.#kept)) this.#late.add(id);
    else if (before === 'new') this.#pack?.late.add(id);
    if (isSettled(entry, this.#kept)) this.#settled.add(id);
    else if (before === 'settled') this.#pack?.changed.add(id);
  }

  async finish(now: CheckedPack, trust: SealTrust): Promise<SinceEarlier> {
    const [kept, pack] = [this.#kept, this.#pack];
    if (kept === null && pack === null) {
      const fault = ofPack('earlier', 'a checkpoint, or a pack', shown(this.#earlier));
      return { mismatches: [fault], late: [], changed: [], untold: 0 };
    }
    const ofLog = kept === null ? [] : [...(await checkSigned(kept, now.head, trust, 'earlier')), ...goesOn(kept, now)];
    const keptHours =
      kept === null || pack === null ? [] : checkKeptHours({ head: pack.pack.head, checkpoint: kept }, now.head);
    const unsound = pack === null ? [] : await faultsOf(pack.pack, now, trust, kept);
    const before = pack === null || unsound.length > 0 ? null : pack;
    const altered = before?.finish(now.head) ?? [];
    const told = before === null ? [] : (this.#stories?.finish(now.head, now.checkpoint) ?? []);
    const lists = { late: [this.#late, before?.late], changed: [this.#settled, before?.changed] };
    const listOf = (all: readonly (CappedList<string> | undefined)[]) => all.flatMap((each) => each?.list ?? []);
    return {
      mismatches: [...ofLog, ...unsound, ...told, ...keptHours, ...altered],
      late: listOf(lists.late),
      changed: listOf(lists.changed),
      untold: [...lists.late, ...lists.changed].reduce((sum, each) => sum + (each?.untold ?? 0), 0),
    };
  }
}

/** Compares receipts with those of a kept pack. */
class KeptReceipts {
  readonly pack: KeptPack;
  readonly late = new CappedList<string>();
  readonly changed = new CappedList<string>();
  readonly #altered: PackMismatch[] = [];
  /** Receipts that have not come yet, by the ids of their versions. */
  readonly #before: Map<unknown, Node>;
  readonly #names: ReadonlySet<unknown>;
  readonly #left: ReadonlySet<unknown>;

  constructor(pack: KeptPack) {
    this.pack = pack;
    this.#before = new Map(pack.receipts.map((node) => [node.id, node]));
    this.#names = new Set(this.#before.keys());
    this.#left = new Set(pack.excluded.map(({ receipt_id }) => receipt_id));
  }

  compare(node: Node): 'new' | 'settled' | null {
    const before = this.#before.get(node.id);
    if (before === undefined) return this.#isNew(node) ? 'new' : null;
    this.#before.delete(node.id);
    if (leafOf(node) === leafOf(before)) return null;
    if (maySettle(receiptOf(before), receiptOf(node))) return 'settled';
    this.#altered.push({ receipt: String(node.id), field: 'receipt', expected, found: 'another content' });
    return null;
  }

  /** Whether the kept pack lacks a receipt that it should have had. */
  #isNew(node: Node): boolean {
    const { head } = this.pack;
    if (node.version !== 1 || !hasAllOfItsTime(head) || !isLongOver(node, head.issued)) return false;
    return within(head, node).isWithin && !this.#names.has(node.id) && !this.#left.has(node.receipt_id);
  }

  /** To be called once, after the last receipt. */
  finish(head: Node): readonly PackMismatch[] {
    for (const node of this.#before.values()) {
      const receipt = String(node.id);
      const { isFiltered, isWithin } = within(head, node);
      // Settling a receipt can change the fields that it is filtered by.
      if (isWithin && isFiltered) this.changed.add(receipt);
      else if (isWithin) this.#altered.push({ receipt, field: 'receipt', expected, found: 'nothing' });
    }
    return this.#altered;
  }
}

/** Checks whether a kept pack is as it was signed, and of the same account. */
async function faultsOf(
  pack: KeptPack,
  { head }: CheckedPack,
  trust: SealTrust,
  kept: Checkpoint | null,
): Promise<PackMismatch[]> {
  const { mismatches, signature } = await checkSeal(pack.manifest, pack.signature, { issued: pack.head.issued, trust });
  if (signature === 'invalid' || signature === 'unknown_key')
    return [ofPack('earlier.signature', 'a signature of a key that is trusted', signature)];
  if (pack.head.account !== head.account)
    return [ofPack('earlier.account', shown(head.account), shown(pack.head.account))];
  const faults = [
    ...mismatches,
    ...checkManifest(pack.manifest, keptManifestOf(pack)),
    ...pack.receipts.flatMap((node) => entryOf(node, kept).faults),
  ];
  return faults.map((fault) => ({ ...fault, field: `earlier.${fault.field}` }));
}

function goesOn(kept: Checkpoint, { checkpoint, head: { log } }: CheckedPack): PackMismatch[] {
  if (checkpoint === null)
    return [ofPack('log', `one that goes on from the checkpoint of ${kept.issued}`, shown(log ?? null))];
  const consistency = isNode(log) ? log.consistency : null;
  const { from, path } = isNode(consistency) ? consistency : { from: null, path: [] };
  if (kept.tree_size > checkpoint.tree_size)
    return [
      ofPack(
        'log.tree_size',
        `${kept.tree_size} or more, as in the checkpoint of ${kept.issued}`,
        `${checkpoint.tree_size}: the log has become shorter`,
      ),
    ];
  const isSame = kept.tree_size === checkpoint.tree_size;
  if (!isSame && from !== kept.tree_size) {
    const order = `a proof from ${kept.tree_size} entries on; ask for the pack with "earlier_tree_size": ${kept.tree_size}`;
    return [ofPack('log.consistency', order, shown(consistency ?? null))];
  }
  const [earlier, later] = [kept, checkpoint].map(({ root_hash: root, tree_size: size }) => ({ root, size }));
  if (earlier && later && isConsistent(earlier, later, isSame ? [] : path)) return saysOn(kept, checkpoint);
  const { root_hash, tree_size } = checkpoint;
  const found = isSame ? `the root ${root_hash}` : `a proof that does not lead from there to ${tree_size} entries`;
  const order = `the root ${kept.root_hash} at ${kept.tree_size} entries, as in the checkpoint of ${kept.issued}`;
  return [ofPack('log', order, `${found}: ${twoStories}`)];
}

/** Whether a checkpoint of a log that goes on says nothing else of its hours. */
function saysOn(kept: Checkpoint, { complete_until, hours_root, tree_size }: Checkpoint): PackMismatch[] {
  const differing = (name: string, expected: string, found: string) =>
    ofPack(`log.checkpoint.${name}`, `${expected}, as in the checkpoint of ${kept.issued}`, `${found}: ${twoStories}`);
  // Only the same entries have the same hours.
  const isOther = tree_size === kept.tree_size && hours_root !== kept.hours_root;
  const goesBack = timeOf(complete_until) < timeOf(kept.complete_until);
  return [
    ...(isOther ? [differing('hours_root', kept.hours_root, hours_root)] : []),
    ...(goesBack ? [differing('complete_until', `${kept.complete_until} or later`, complete_until)] : []),
  ];
}

/** Whether a receipt is among those that a pack was asked for, and whether that depends on its content. */
function within({ selection, temporal }: Node, { created_at, model, receipt_id, region }: Node) {
  const asked = isNode(selection) ? selection : {};
  const at = timeOf(created_at);
  const isInTime = isNode(temporal)
    ? at >= timeOf(temporal.start) && at < timeOf(temporal.end)
    : Array.isArray(asked.receipt_ids);
  const isNamed = !Array.isArray(asked.receipt_ids) || asked.receipt_ids.includes(receipt_id);
  const fits = [asked.model ?? model, asked.region ?? region];
  return {
    isWithin: isInTime && isNamed && fits[0] === model && fits[1] === region,
    isFiltered: asked.model !== undefined || asked.region !== undefined,
  };
}

/** Whether a receipt came into the log after the checkpoint, although that was complete for its time. */
const isLate = ({ indexes: [first], node }: Entry, kept: Checkpoint | null): boolean =>
  kept !== null &&
  node.version === 1 &&
  first !== undefined &&
  first >= kept.tree_size &&
  timeOf(node.created_at) < timeOf(kept.complete_until);

/** Whether the receipt was another one at the checkpoint. */
const isSettled = ({ index, indexes: [first] }: Entry, kept: Checkpoint | null): boolean =>
  kept !== null && first !== undefined && first < kept.tree_size && (index === null || index >= kept.tree_size);
