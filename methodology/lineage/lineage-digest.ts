/**
 * The digest that binds a receipt to its call and to everything that its numbers were made from.
 *
 * Invariant: the numbers, and each step of the lineage, follow from what is digested: which call it was, its facts, and the
 * methodology, by the hash of its document. So the digest can be made when the receipt is, without its lineage.
 */
import { sha256Of, sortedText } from '../documents/digest.ts';
import type { CallFacts, GridReading, ModelFacts, SiteFacts } from '../facts/facts.ts';
import { statedCallFacts, statedGrid, statedModel, statedSite } from '../facts/stated-facts.ts';

/** Which call a receipt is of, in the words of the receipt. */
export interface StatedCall {
  readonly id: string;
  readonly version: number;
  readonly created_at: string;
  readonly model: string;
  readonly provider: string | null;
  readonly region: string | null;
  /** The id of the deployment; null if it is not known. */
  readonly deployment: string | null;
  /** The region that the request asked for; absent, and never null, where it asked for none. */
  readonly pinned_region?: string;
  /** The API that it came by; absent in receipts that do not say so. */
  readonly api?: string;
  /** The project that it is charged to; absent, and never null, where there is none. */
  readonly project?: string;
}

/** The fields of a receipt that say which call it is of. */
interface ReceiptOfCall extends Omit<StatedCall, 'api' | 'deployment' | 'pinned_region' | 'project'> {
  readonly pinned_region?: string | null | undefined;
  readonly api?: string | undefined;
  readonly project?: string | null | undefined;
}

/** The call of a receipt. `receipt`: its fields; others are not looked at. */
export const callOf = (
  { id, version, created_at, model, provider, region, pinned_region, api, project }: ReceiptOfCall,
  { site }: { readonly site: Pick<SiteFacts, 'id'> },
): StatedCall => ({
  id,
  version,
  created_at,
  model,
  provider,
  region,
  deployment: site.id ?? null,
  ...(typeof pinned_region === 'string' && { pinned_region }),
  ...(typeof api === 'string' && { api }),
  ...(typeof project === 'string' && { project }),
});

/** Without what else a hostile lineage may hold there. */
export const statedCall = ({ deployment, ...call }: StatedCall): StatedCall =>
  callOf(call, { site: { id: deployment ?? undefined } });

/** Null for facts that were assessed by themselves, of no receipt. */
export type DigestedCall = StatedCall | null;

/** `sha256:` and 64 hexadecimal digits. */
export const lineageDigest = (call: DigestedCall, facts: CallFacts, methodologyHash: string): string =>
  sha256Of(digestedText(call, facts, methodologyHash, partTexts));

/** The texts of the parts of the facts that calls share, so that a caller can keep them. */
export interface PartTexts {
  readonly model: (model: ModelFacts) => string;
  readonly site: (site: SiteFacts) => string;
  readonly grid: (grid: GridReading | null) => string;
}

export const partTexts: PartTexts = {
  model: (model) => sortedText(statedModel(model)),
  site: (site) => sortedText(statedSite(site)),
  grid: (grid) => sortedText(statedGrid(grid)),
};

/** The digested text: JSON by RFC 8785 of `call` (if there is one), `facts` as the lineage states them, `methodology_hash`. */
export function digestedText(call: DigestedCall, facts: CallFacts, methodologyHash: string, texts: PartTexts): string {
  const parts: [string, string][] = [
    ['grid', texts.grid(facts.grid)],
    ['model', texts.model(facts.model)],
    ['site', texts.site(facts.site)],
  ];
  for (const [name, value] of Object.entries(statedCallFacts(facts))) parts.push([name, sortedText(value)]);
  const sorted = parts.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, text]) => `"${name}":${text}`);
  const ofCall = call === null ? '' : `"call":${sortedText(statedCall(call))},`;
  return `{${ofCall}"facts":{${sorted.join(',')}},"methodology_hash":"${methodologyHash}"}`;
}
