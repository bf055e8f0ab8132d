/**
 * Whether a pack goes on from a checkpoint, or a pack, that somebody has kept.
 *
 * Invariant: what was in a kept pack and is another one now, or gone, is named, whatever the log says of it. Of the kept pack itself only
 * what is signed is believed. Of the pack that is checked nothing is kept.
 */
import { type Checkpoint, checkpointIn } from './checkpoint.ts';
import { checkSigned, type Entry, entryOf, hasAllOfItsTime, isLongOver, leafOf, timeOf } from './log-entries.ts';
import { isConsistent } from './merkle.ts';
import { isNode, type Node, ofPack, type PackMismatch, receiptOf, shown } from './receipt-node.ts';
import { maySettle } from './settled.ts';
import { checkSignature, type Trust } from './signature.ts';
import { Told } from './told.ts';
import { type KeptPack, keptPackIn } from './verify-manifest.ts';

interface Now {
  readonly head: Node;
  readonly checkpoint: Checkpoint | null;
}

interface Since {
  readonly mismatches: readonly PackMismatch[];
  readonly late: readonly string[];
  readonly changed: readonly string[];
  /** Receipts that are in neither list. */
  readonly untold: number;
}

const expected = 'as it was in the earlier pack';

export class EarlierCheck {
  readonly #earlier: unknown;
  readonly #kept: Checkpoint | null;
  readonly #pack: BeforePack | null;
  readonly #late = new Told<string>();
  readonly #settled = new Told<string>();

  constructor(earlier: unknown) {
    const pack = keptPackIn(earlier);
    this.#earlier = earlier;
    this.#pack = pack === null ? null : new BeforePack(pack);
    this.#kept = checkpointIn(pack === null ? earlier : isNode(pack.head.log) ? pack.head.log.checkpoint : null);
  }

  add(entry: Entry): void {
    const id = String(entry.node.id);
    const before = this.#pack?.compare(entry.node);
    if (isLate(entry, this.#kept)) this.#late.add(id);
    else if (before === 'new') this.#pack?.late.add(id);
    if (isSettled(entry, this.#kept)) this.#settled.add(id);
    else if (before === 'settled') this.#pack?.changed.add(id);
  }

  async finish(now: Now, trust: Trust): Promise<Since> {
    const [kept, pack] = [this.#kept, this.#pack];
    if (kept === null && pack === null) {
      const fault = ofPack('earlier', 'a checkpoint, or a pack', shown(this.#earlier));
      return { mismatches: [fault], late: [], changed: [], untold: 0 };
    }
    const ofLog = kept === null ? [] : [...(await checkSigned(kept, now.head, trust, 'earlier')), ...goesOn(kept, now)];
    const unsound = pack === null ? [] : await faultsOf(pack.pack, now, trust, kept);
    const before = pack === null || unsound.length > 0 ? null : pack;
    const altered = before?.finish(now.head) ?? [];
    const lists = { late: [this.#late, before?.late], changed: [this.#settled, before?.changed] };
    const listOf = (all: readonly (Told<string> | undefined)[]) => all.flatMap((each) => each?.list ?? []);
    return {
      mismatches: [...ofLog, ...unsound, ...altered],
      late: listOf(lists.late),
      changed: listOf(lists.changed),
      untold: [...lists.late, ...lists.changed].reduce((sum, each) => sum + (each?.untold ?? 0), 0),
    };
  }
}

/** What a kept pack says of the receipts, if it is what was signed. */
class BeforePack {
  readonly pack: KeptPack;
  readonly late = new Told<string>();
  readonly changed = new Told<string>();
  readonly #altered: PackMismatch[] = [];
  /** Those that have not come yet, by the names of their versions. */
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

  /** Whether the pack should have had a receipt, and has not. */
  #isNew(node: Node): boolean {
    const { head } = this.pack;
    if (node.version !== 1 || !hasAllOfItsTime(head) || !isLongOver(node, head.issued)) return false;
    return within(head, node).isWithin && !this.#names.has(node.id) && !this.#left.has(node.receipt_id);
  }

  /** To be called once, behind the last receipt. */
  finish(head: Node): readonly PackMismatch[] {
    for (const node of this.#before.values()) {
      const receipt = String(node.id);
      const { isFiltered, isWithin } = within(head, node);
      // What settles a receipt can change by what it is filtered.
      if (isWithin && isFiltered) this.changed.add(receipt);
      else if (isWithin) this.#altered.push({ receipt, field: 'receipt', expected, found: 'nothing' });
    }
    return this.#altered;
  }
}

/** Whether a kept pack is what was signed, of the same account. */
async function faultsOf(pack: KeptPack, { head }: Now, trust: Trust, kept: Checkpoint | null): Promise<PackMismatch[]> {
  const signature = await checkSignature(pack.manifest, pack.signature, trust);
  if (signature === 'invalid' || signature === 'unknown_key')
    return [ofPack('earlier.signature', 'a signature of a key that is trusted', signature)];
  if (pack.head.account !== head.account)
    return [ofPack('earlier.account', shown(head.account), shown(pack.head.account))];
  const faults = [...pack.manifestFaults(), ...pack.receipts.flatMap((node) => entryOf(node, kept).faults)];
  return faults.map((fault) => ({ ...fault, field: `earlier.${fault.field}` }));
}

function goesOn(kept: Checkpoint, { checkpoint, head: { log } }: Now): PackMismatch[] {
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
  if (earlier && later && isConsistent(earlier, later, isSame ? [] : path)) return [];
  return [ofPack('log', `one that goes on from the checkpoint of ${kept.issued}`, 'another log')];
}

/** Whether a receipt is among those that a pack was asked for, and whether that depends on what it says. */
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

/** Whether the checkpoint had it as something else. */
const isSettled = ({ index, indexes: [first] }: Entry, kept: Checkpoint | null): boolean =>
  kept !== null && first !== undefined && first < kept.tree_size && (index === null || index >= kept.tree_size);
