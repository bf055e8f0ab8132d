/**
 * What the name of a model tells of it, where nobody has said more: `llama-3.1-8b-instruct` has 8 billion parameters, `bge-m3` makes
 * embeddings.
 *
 * Invariant: a guess is told as one (`because`), and errs upwards: a mixture of experts counts with what its name says, and a model
 * of unknown size as the largest class.
 */
import type { modelClasses } from './model-fields.ts';

export interface ModelGuess {
  readonly kind: 'chat' | 'embedding';
  /** Billions of parameters; null: the name tells none. */
  readonly totalB: number | null;
  /** Those that serve one token. */
  readonly activeB: number | null;
  /** What stands in where no parameters are known; null where they are. */
  readonly modelClass: (typeof modelClasses)[number] | null;
  /** For people: what was guessed, and from what. */
  readonly because: string;
}

const embeddingNames = /embed|(^|[/_-])(bge|e5|gte|minilm|all-mpnet|nomic|voyage|stella)([-_./]|$)/i;
/** `8b`, `1.5b`, `335m` between anything that is no letter and no digit. */
const sizes = /(?<![a-z0-9.])(\d+(?:\.\d+)?)(b|m)(?![a-z0-9])/gi;
/** Below, it tells how long a prompt may be. */
const leastMillions = 20;
/** `17b-16e`: the size of one of so many experts, and no word of them all. */
const ofEachExpert = /(?<![a-z0-9.])\d+e(?![a-z0-9])/i;
const experts = /(?<![a-z0-9.])(\d+)x(\d+(?:\.\d+)?)b(?![a-z0-9])/i;
const activeOf = /(?<![a-z0-9.])a(\d+(?:\.\d+)?)b(?![a-z0-9])/i;
/** Of a mixture whose name tells the size of one expert, two work on a token, as in Mixtral. */
const expertsAtOnce = 2;

const isPlausible = (billions: number): boolean => billions >= 0.001 && billions <= 100_000;

function sizeIn(name: string): { readonly totalB: number; readonly activeB: number } | null {
  if (ofEachExpert.test(name)) return null;
  const [, count, each] = experts.exec(name) ?? [];
  const [, active] = activeOf.exec(name) ?? [];
  const named = [...name.matchAll(sizes)].flatMap(([, number, unit]) => {
    const inMillions = unit?.toLowerCase() === 'm';
    if (inMillions && Number(number) < leastMillions) return [];
    return Number(number) / (inMillions ? 1000 : 1);
  });
  const one = each === undefined ? Math.max(...named) : Number(each);
  const totalB = each === undefined ? one : Number(count) * one;
  const activeB = active === undefined ? (each === undefined ? one : expertsAtOnce * one) : Number(active);
  return isPlausible(totalB) && isPlausible(activeB) && activeB <= totalB ? { totalB, activeB } : null;
}

export function guessModel(id: string): ModelGuess {
  const kind = embeddingNames.test(id) ? 'embedding' : 'chat';
  const found = sizeIn(id);
  const what = kind === 'embedding' ? 'makes embeddings' : 'chats';
  if (found !== null) {
    const { activeB, totalB } = found;
    const shown = activeB === totalB ? '' : ` (${activeB} serve a token)`;
    return {
      kind,
      ...found,
      modelClass: null,
      because: `by its name: it ${what}, with ${totalB} billion parameters${shown}`,
    };
  }
  const modelClass = kind === 'embedding' ? 'embedding' : 'frontier';
  const because = `by its name: it ${what}; its size is not known, so receipts take the class ${modelClass}`;
  return { kind, totalB: null, activeB: null, modelClass, because };
}
