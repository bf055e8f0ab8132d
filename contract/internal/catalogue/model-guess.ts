/**
 * Guesses the properties of a model from its name: `llama-3.1-8b-instruct` has 8 billion parameters, `bge-m3` makes embeddings.
 *
 * Invariant: a guess is marked as one (`because`) and errs upwards: a model of unknown size counts as the largest class.
 */
import type { modelClasses } from './model-fields.ts';

export interface ModelGuess {
  readonly kind: 'chat' | 'embedding';
  /** Billions of parameters; null if the name does not say. */
  readonly totalB: number | null;
  /** Billions of parameters active per token. */
  readonly activeB: number | null;
  /** Size class if the parameters are unknown, otherwise null. */
  readonly modelClass: (typeof modelClasses)[number] | null;
  /** Explanation for people. */
  readonly because: string;
}

const embeddingNames = /embed|(^|[/_-])(bge|e5|gte|minilm|all-mpnet|nomic|voyage|stella)([-_./]|$)/i;
/** `8b`, `1.5b` or `335m` between characters other than letters and digits. */
const sizes = /(?<![a-z0-9.])(\d+(?:\.\d+)?)(b|m)(?![a-z0-9])/gi;
/** A smaller number, as in `1m`, is a context length. */
const leastMillions = 20;
/** `17b-16e` names the size of one of 16 experts, not the total. */
const ofEachExpert = /(?<![a-z0-9.])\d+e(?![a-z0-9])/i;
const experts = /(?<![a-z0-9.])(\d+)x(\d+(?:\.\d+)?)b(?![a-z0-9])/i;
const activeOf = /(?<![a-z0-9.])a(\d+(?:\.\d+)?)b(?![a-z0-9])/i;
/** If the name gives the size of one expert, two are active per token, as in Mixtral. */
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
