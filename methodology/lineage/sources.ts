/** Who vouches for the facts of a call, as its lineage says it. */
import type { CallFacts, CatalogueEntry, Evidence, GridReading } from '../facts/facts.ts';
import { factSources } from '../facts/inputs.ts';

export interface LineageSource {
  /** As the inputs of the steps name it. */
  readonly source: string;
  /** Null: nobody is known. */
  readonly vouched_by: string | null;
  /** When it was entered or said, RFC 3339. */
  readonly since: string | null;
  /** In which the entry changed last. */
  readonly catalogue_version: number | null;
  readonly evidence: readonly (Evidence & { readonly of: string })[];
  /** SHA-256 of what the source said, in hexadecimal. */
  readonly sha256: string | null;
}

/** `provider`: who served the call; null if it is not known. */
export function sourcesOf(facts: CallFacts, provider: string | null): LineageSource[] {
  const { grid, model, requestedAt, site, telemetry, usage } = facts;
  const counts = usage?.estimated;
  const counted = counts === undefined ? provider : `gateway, which estimated from text: ${counts}`;
  return [
    ...(usage === null ? [] : [said(factSources.usage, counted, requestedAt)]),
    said(factSources.timing, 'gateway', requestedAt),
    { ...entered(factSources.model, model.entry), evidence: parametersOf(model.parametersSource) },
    { ...entered(factSources.site, site.entry), evidence: evidenceOf(site) },
    ...(grid === null
      ? []
      : [{ ...said(factSources.grid, editionOf(grid), grid.fetchedAt ?? null), sha256: grid.replySha256 ?? null }]),
    ...(site.regionEntry ? [entered('region catalogue: which grid zone it is', site.regionEntry)] : []),
    ...(telemetry ? [said(factSources.telemetry, meterOf(facts, provider), requestedAt)] : []),
  ];
}

function meterOf({ simulated, telemetry }: CallFacts, provider: string | null): string | null {
  if (simulated) return 'simulator';
  return telemetry?.source === 'gpu_counters' ? 'gpu_counters of the deployment' : provider;
}

const editionOf = ({ edition, source }: GridReading): string => (edition ? `${source}, from ${edition}` : source);

const said = (source: string, by: string | null, since: string | null): LineageSource => ({
  source,
  vouched_by: by,
  since,
  catalogue_version: null,
  evidence: [],
  sha256: null,
});

const entered = (source: string, entry: CatalogueEntry | undefined): LineageSource => ({
  ...said(source, entry?.changedBy ?? null, entry?.changedAt ?? null),
  catalogue_version: entry?.catalogueVersion ?? null,
});

const parametersOf = (source: string | null | undefined): LineageSource['evidence'] =>
  !source ? [] : [{ of: 'parameters', kind: 'reported', source, period: null }];

function evidenceOf({ pueEvidence, wueEvidence }: CallFacts['site']): LineageSource['evidence'] {
  return Object.entries({ PUE: pueEvidence, WUE_site: wueEvidence }).flatMap(([of, evidence]) =>
    evidence ? [{ of, kind: evidence.kind, source: evidence.source, period: evidence.period }] : [],
  );
}
