/**
 * The vocabulary of packs as JSON-LD: what each term of ours means, in which unit a number is, which words a field can have. Each gateway
 * serves it at `/ns/gw`, and docs/ns/gw.jsonld is the same.
 *
 * Invariant: it has each term of ours that a pack can use, and no other. The definition of a property is the description of the member in
 * the schema of packs.
 */
import type { z } from 'zod';
import type { boundaries, receiptStatuses, receiptTiers } from '../receipt.ts';
import { prefixes, termsOfPacks, vocabularyIri } from './context.ts';
import { ownLicences } from './licences.ts';
import { intensityUnit, measureOf } from './measures.ts';
import { packShapes } from './schema.ts';

type Entry = Readonly<Record<string, unknown>>;

const entry = (name: string, type: string, definition: string, more: Entry = {}): Entry => ({
  id: `gw:${name}`,
  type,
  label: name.replaceAll(/[_-]/g, ' '),
  definition,
  isDefinedBy: vocabularyIri,
  ...more,
});

const classes = {
  EvidencePack: ['Receipts of one account, the methodologies that made them, and their sums, signed', 'prov:Entity'],
  Receipt: ['One version of the environmental receipt of one call to a language model', 'prov:Entity'],
  Aggregate: ['Sums of the receipts of one day, model, provider, region and grid basis'],
  Exclusion: ['A receipt that was asked for and is not in the pack, or without its lineage'],
} as const;

/** For members whose description does not stand by itself, or fits one of several objects alone, and for those that describe properties. */
const definitions: Readonly<Record<string, string>> = {
  methodology_version: 'The version of the formulas and constants',
  explanation: 'Of a degraded receipt: why there are no numbers, in words',
  grid_intensity_observed_at: 'The time that the intensity of the grid is for, according to its source',
  grid_intensity_requested_at: 'The time that the intensity of the grid is used for, that of the call',
  grid_intensity_age_minutes:
    'Minutes between the time that the intensity of the grid is for and that of the call; 0 within its interval, unknown for a forecast',
  grid_vintage: 'The year of a yearly intensity of the grid',
  version: 'Of a receipt the number of its version, 1 as issued; of a methodology or a source the name of its edition',
  log: 'Of a pack the signed checkpoint of the log of the account; of a receipt its place there, and the path to the root',
  measured_in: 'The unit of the values of this property',
  measures: 'The kind of quantity of the values of this property',
};

type Words = Readonly<
  Record<`tier-${(typeof receiptTiers)[number]}`, string> &
    Record<`boundary-${(typeof boundaries)[number]}`, string> &
    Record<`status-${(typeof receiptStatuses)[number]}`, string>
>;
/** The values of the fields whose values are terms. */
const words: Words = {
  'tier-proxy': 'The energy is estimated from the size class of the model, because its parameter counts are not known',
  'tier-parametric': 'The energy is modelled from the parameter counts of the model and the hardware',
  'tier-telemetry': 'The energy was measured, or reported by the provider',
  'tier-degraded': 'No energy was determined',
  'boundary-comprehensive':
    'The whole server, idle machines, cooling, the making of the hardware, and water are counted',
  'boundary-narrow': 'The accelerators in use alone are counted, and the operation of the grid',
  'status-pending': 'The call was running',
  'status-complete': 'The reply was complete',
  'status-client_aborted': 'The client left before the end of the reply',
  'status-upstream_error': 'The provider failed, or broke its reply off',
};

/** The objects of a pack that have the member, with their classes. */
function ownersOf(name: string): [string, z.ZodType][] {
  return Object.entries<Readonly<Record<string, z.ZodType | undefined>>>(packShapes).flatMap(
    ([owner, { [name]: member }]): [string, z.ZodType][] => (member === undefined ? [] : [[owner, member]]),
  );
}

/** `type`: as the context has it; null: the values are things; undefined: they are of several types. */
function property(name: string, type: unknown): Entry {
  const [owner, ...others] = ownersOf(name);
  const definition = definitions[name] ?? owner?.[1].description;
  if (definition === undefined) throw new Error(`The schema of packs does not describe ${name}.`);
  const isThing = type === null || type === '@id' || type === '@vocab';
  const kind = isThing ? 'owl:ObjectProperty' : type === undefined ? 'rdf:Property' : 'owl:DatatypeProperty';
  const range = type === '@json' ? 'rdf:JSON' : type;
  return entry(name, kind, definition, {
    ...(owner !== undefined && others.length === 0 && { domain: owner[0] }),
    ...(kind === 'owl:DatatypeProperty' && { range }),
    ...measureOf(name),
  });
}

const properties = Object.entries(termsOfPacks).flatMap(([name, term]) => {
  if (typeof term === 'string') return term === `gw:${name}` ? [property(name, undefined)] : [];
  return term['@id'] === `gw:${name}` ? [property(name, term['@type'] ?? null)] : [];
});

const intensity = entry(intensityUnit.slice('gw:'.length), 'qudt:Unit', 'Grams per kilowatt hour', {
  label: 'gram per kilowatt hour',
  'qudt:symbol': 'g/(kW·h)',
  'qudt:conversionMultiplier': { '@value': '0.000000000277777777777777777777777777777778', '@type': 'xsd:decimal' },
  'qudt:hasQuantityKind': { id: 'quantitykind:MassPerEnergy' },
});

export const vocabulary: Entry = {
  '@context': {
    ...prefixes,
    rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
    rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
    skos: 'http://www.w3.org/2004/02/skos/core#',
    id: '@id',
    type: '@type',
    label: 'rdfs:label',
    definition: 'skos:definition',
    ...Object.fromEntries(
      ['isDefinedBy', 'domain', 'range', 'subClassOf'].map((name) => [name, { '@id': `rdfs:${name}`, '@type': '@id' }]),
    ),
    ...Object.fromEntries(['measured_in', 'measures'].map((name) => [name, termsOfPacks[name]])),
  },
  '@graph': [
    {
      id: vocabularyIri,
      type: 'owl:Ontology',
      'dct:title': 'Terms of evidence packs of an inference gateway',
      'dct:license': { id: 'spdx:Apache-2.0' },
    },
    ...Object.entries(classes).map(([name, [definition, subClassOf]]) =>
      entry(name, 'owl:Class', definition, { ...(subClassOf !== undefined && { subClassOf }) }),
    ),
    ...properties,
    ...Object.entries(words).map(([name, definition]) => entry(name, 'skos:Concept', definition)),
    ...Object.entries(ownLicences).map(([text, name]) =>
      entry(`licence-${name}`, 'dct:LicenseDocument', `The terms that lineages call “${text}”`, { label: text }),
    ),
    intensity,
  ],
};
