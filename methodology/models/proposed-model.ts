/**
 * Proposes what the catalogue should say of a model of which a provider lists only the name: what is known of it, or else what the name
 * tells (`llama-3.1-8b-instruct` has 8 billion parameters, `some-embed` makes embeddings).
 *
 * Invariant: a guess is marked as one (`parametersSource` begins with "guessed"). A chat model whose size nobody knows has the class
 * `unknown`, and no size is guessed.
 */
import type { ModelClass, ParameterRange } from '../facts/facts.ts';
import { findModel, hidesReasoning } from './known-models.ts';

export interface ProposedModel {
  readonly kind: 'chat' | 'embedding';
  /** Billions of parameters; null if nobody knows. */
  readonly total: ParameterRange | null;
  /** Billions of parameters that serve a token. */
  readonly active: ParameterRange | null;
  /** Size class if the parameters are unknown, otherwise null. */
  readonly modelClass: ModelClass | null;
  readonly bits: number | null;
  readonly tokensPerS: number | null;
  readonly ttftS: number | null;
  /** Null if nobody says that it thinks unseen. */
  readonly hiddenReasoning: true | null;
  /** Null if the size is unknown. */
  readonly parametersSource: string | null;
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

const says = ({ min, max }: ParameterRange): string => (min === max ? `${min}` : `${min} to ${max}`);

/** `it chats, with 117 billion parameters (5.1 serve a token)` */
function described(kind: ProposedModel['kind'], total: ParameterRange, active: ParameterRange): string {
  const serving = says(active) === says(total) ? '' : ` (${says(active)} serve a token)`;
  return `it ${kind === 'embedding' ? 'makes embeddings' : 'chats'}, with ${says(total)} billion parameters${serving}`;
}

/** `baseUrl`: of the provider; how fast a model is, is known of its maker's own service alone. */
export function proposedModel(id: string, baseUrl: string): ProposedModel {
  const known = findModel(id);
  if (known !== null) {
    const { active, bits, kind, makersHost, source, total } = known;
    const isMakers = URL.parse(baseUrl)?.hostname === makersHost;
    return {
      kind,
      total,
      active,
      modelClass: null,
      bits,
      tokensPerS: isMakers ? known.tokensPerS : null,
      ttftS: isMakers ? known.ttftS : null,
      hiddenReasoning: hidesReasoning(id) ? true : null,
      parametersSource: source,
      because: `${described(kind, total, active)}; ${source}`,
    };
  }
  return guessedModel(id);
}

function guessedModel(id: string): ProposedModel {
  const kind = embeddingNames.test(id) ? 'embedding' : 'chat';
  const found = sizeIn(id);
  const hiddenReasoning = hidesReasoning(id) ? true : null;
  const unknown = { kind, bits: null, tokensPerS: null, ttftS: null, hiddenReasoning } as const;
  if (found !== null) {
    const total = { min: found.totalB, max: found.totalB };
    const active = { min: found.activeB, max: found.activeB };
    const because = `by its name: ${described(kind, total, active)}`;
    return { ...unknown, total, active, modelClass: null, parametersSource: `guessed ${because}`, because };
  }
  const unsized = { ...unknown, total: null, active: null };
  if (kind === 'chat') {
    const because = 'by its name: it chats; its size is unknown, so the bounds of its receipts hold models of any size';
    return { ...unsized, modelClass: 'unknown', parametersSource: null, because };
  }
  const because = 'by its name: it makes embeddings; its size is not known, so receipts take the class embedding';
  return { ...unsized, modelClass: 'embedding', parametersSource: `guessed ${because}`, because };
}
