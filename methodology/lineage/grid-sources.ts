/**
 * Under which terms the sources of grid values publish them, when they did, and where.
 *
 * Invariant: a source that is not in the table has no terms; none are guessed. No number follows from them, and they are
 * not in the documents of methodologies, so a source can be added at any time.
 */
export interface SourceTerms {
  readonly licence: string | null;
  /** The date of the edition; null: the source publishes all the time, and the value has its period. */
  readonly date: string | null;
  readonly locator: string | null;
}

/** Keyed by the beginning of the source's name, the longest first where two begin alike. */
const table: readonly (readonly [string, SourceTerms])[] = [
  ['egrid-2023', terms('public domain (EPA); MIT (CodeCarbon)', '2025', 'https://www.epa.gov/egrid')],
  ['ipcc-ar5-1', terms('facts (IPCC); MIT (CodeCarbon)', '2014', 'https://www.ipcc.ch/report/ar5/wg3/')],
  ['electricity-maps', terms('contract with Electricity Maps', null, 'https://www.electricitymaps.com')],
  // Generation per type is in ENTSO-E's list of data available for free re-use (version of 18 October 2023).
  ['entsoe', terms('CC-BY-4.0', null, 'https://transparency.entsoe.eu')],
  // The service itself may not be sold on or replaced; its data is under the licence.
  ['neso', terms('CC-BY-4.0', null, 'https://github.com/carbon-intensity/terms')],
  ['watttime', terms('contract with WattTime', null, 'https://watttime.org')],
];
const ember = 'https://ember-energy.org/data/yearly-electricity-data/';

function terms(licence: string, date: string | null, locator: string): SourceTerms {
  return { licence, date, locator };
}

export const noTerms: SourceTerms = { licence: null, date: null, locator: null };

/** Ember's years are of one edition, which the package that they were taken from is of. */
export function termsOf(source: string): SourceTerms {
  if (source.startsWith('ember-')) {
    return terms('CC-BY-4.0', source.includes('EcoLogits 0.11.3') ? '2026' : null, ember);
  }
  const [, found] = table.find(([name]) => source.startsWith(name)) ?? [];
  return found ?? noTerms;
}
