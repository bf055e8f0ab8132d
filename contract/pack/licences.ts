/** The licences of sources as IRIs: of SPDX where it knows the licence, else of our vocabulary. */

/** The licences that SPDX knows, under its identifiers. */
const known: readonly string[] = ['Apache-2.0', 'CC-BY-4.0', 'MPL-2.0'];

/** Terms that SPDX does not know, by what lineages call them. */
export const ownLicences = {
  'contract with Electricity Maps': 'electricity-maps',
  'contract with WattTime': 'watttime',
  'facts (IPCC); MIT (CodeCarbon)': 'ipcc-codecarbon',
  'public domain (EPA); MIT (CodeCarbon)': 'epa-codecarbon',
} as const;
const isOwn = (text: string): text is keyof typeof ownLicences => Object.hasOwn(ownLicences, text);

/** Null: a lineage states none, or one that no methodology of ours names. */
export function licenceOf(text: string | null): string | null {
  if (text === null) return null;
  if (known.includes(text)) return `spdx:${text}`;
  return isOwn(text) ? `gw:licence-${ownLicences[text]}` : null;
}

/** Returns the identifier of SPDX, or what lineages call the licence. */
export function licenceName(licence: unknown): unknown {
  const own = Object.keys(ownLicences).find((text) => licenceOf(text) === licence);
  return own ?? (typeof licence === 'string' ? licence.replace(/^spdx:/, '') : licence);
}
