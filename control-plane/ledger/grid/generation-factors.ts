/**
 * Life-cycle emissions by type of generation, g CO2e/kWh, under the codes that ENTSO-E gives the types.
 *
 * Source: IPCC, AR5 WG III (2014), annex III, table A.III.2, medians; oil from the IPCC's SRREN (2011), annex II.
 * A change of any number is a new version: the version is part of the source's name in every reading.
 */
export const factorVersion = 'ipcc-ar5-1';

const coal = 820;
const hydropower = 24;

/** The factors in gCO2e/kWh, from the sources in the head of this file. */
export const gPerKwhByType: Readonly<Record<string, number>> = {
  /** Biomass, dedicated. */
  B01: 230,
  /** Lignite: the table has one value for coal, which is too low for it. */
  B02: coal,
  /** Natural gas, combined cycle. */
  B04: 490,
  /** Hard coal. */
  B05: coal,
  /** Oil. */
  B06: 840,
  /** Geothermal. */
  B09: 38,
  /** Hydropower: pumped storage, run of river, reservoir. What a pump takes is subtracted from what it gives. */
  B10: hydropower,
  B11: hydropower,
  B12: hydropower,
  /** Ocean. */
  B13: 17,
  /** Nuclear. */
  B14: 12,
  /** Solar, utility scale. */
  B16: 48,
  /** Wind, offshore and onshore. */
  B18: 12,
  B19: 11,
};

/**
 * Coal gas, oil shale, peat, waste and the "other" types have no median there. They are left out of the sum up to this
 * share of the generation; above it no intensity is given.
 */
export const uncoveredShare = 0.05;
