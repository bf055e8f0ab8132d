/**
 * The sources of uncertainty under the names that formulas use (bound-programs.ts): what each ratio is taken from, or that
 * it is an assumption.
 */

import { attention, gridEnds, spreads, uncountedBounds, uncountedCalls, worldWaterLPerKwh } from './factors.ts';
import { measuredRatios, type Serving } from './measured-ratios.ts';

/** Where and when a source was published; null: not stated, or nowhere that all can reach. */
interface Published {
  readonly date: string | null;
  readonly locator: string | null;
}

const factor =
  (source: string, version: string | null, { date, locator }: Published, licence: string | null = null) =>
  (value: number, unit = '1') => ({ value, unit, source, version, licence, date, locator });

const here = { date: '2026-11', locator: null };
const assumption = (why: string) => factor(`assumption of this methodology: ${why}`, '2.0', here, 'Apache-2.0');
const paper = { date: '2025', locator: 'https://doi.org/10.21105/joss.07471' };

const servingFactors = ['model_ratio_least', 'model_ratio_most', 'time_ratio_least', 'time_ratio_most'];
/** Null for a name that is no factor of a kind of model and of what is stated of its deployment. */
export function servingFactor(name: string, serving: Serving) {
  const ratio = measuredRatios[serving][servingFactors.indexOf(name)];
  if (ratio === undefined) return null;
  return factor(
    `measured with 8 to 4,096 requests at once, 95 % of the configurations (${serving.replaceAll('_', ', ')}), against the model: methodology/scripts/coverage.ts with the figures of the ML.ENERGY leaderboard, https://github.com/ml-energy/leaderboard`,
    'v3 0cd52da',
    { date: '2026-02-27', locator: 'https://github.com/ml-energy/leaderboard' },
    'Apache-2.0',
  )(ratio);
}
const kaplan = factor('Kaplan et al., arXiv:2001.08361', '2020', {
  date: '2020',
  locator: 'https://arxiv.org/abs/2001.08361',
});
const hours = factor(
  'hours of 2021 to 2023 against their year in four zones, 5th and 95th percentile; no script repeats it here, and which zones is not recorded: Electricity Maps, https://github.com/umassos/decarbonization-potential',
  '3493a63',
  { date: '2024', locator: 'https://github.com/umassos/decarbonization-potential' },
  'Apache-2.0',
);
const water = factor(
  'the 49 countries with a value of their own against the average of the world, 5th and 95th percentile, by methodology/scripts/world-ratios.py from methodology/data/ecologits-mixes.json: EcoLogits, doi:10.21105/joss.07471',
  '0.11.3',
  paper,
  'MPL-2.0',
);

const world = factor(
  'the yearly values of 212 countries against that of the world, 5th and 95th percentile, by methodology/scripts/world-ratios.py from methodology/data/annual-grid.json: Ember, Yearly Electricity Data, https://ember-energy.org',
  '2025, in EcoLogits 0.11.3',
  { date: '2026', locator: 'https://ember-energy.org/data/yearly-electricity-data/' },
  'CC-BY-4.0',
);
const ipcc = (what: string) =>
  factor(`IPCC AR5 WG3 Annex III Table A.III.2, ${what}: https://www.ipcc.ch/report/ar5/wg3/`, '2014', {
    date: '2014',
    locator: 'https://www.ipcc.ch/report/ar5/wg3/',
  });

export const boundFactors = {
  context_ratio: assumption('models share keys and values between 1 to 16 heads, and some compress them')(
    spreads.context,
  ),
  attention_ratio: assumption('layers and width follow from the parameters of a dense model')(spreads.attention),
  other_hardware_ratio: assumption(
    'A100 took 0.65 to 1.46 of the energy of an H100 (ML.ENERGY v2), other accelerators have no such figure',
  )(spreads.otherHardware),
  aspect: kaplan(attention.aspect),
  parameters_per_squared_width: kaplan(attention.parametersPerSquaredWidth),
  k_idle_max: factor('rounding of the split in arXiv:2508.15734 (Google)', 'v1, 2025-08-21', {
    date: '2025-08-21',
    locator: 'https://arxiv.org/abs/2508.15734v1',
  })(spreads.idleShareMax),
  overhead_spread: factor(
    'quarterly PUE of each site in 2022 and 2023 against that of its year, 51 years of sites of Google; no script repeats it here, https://datacenters.google/efficiency',
    '2022 and 2023',
    { date: '2023', locator: 'https://datacenters.google/efficiency' },
  )(spreads.overhead),
  overhead_assumed_spread: assumption(
    'nobody has measured or published the PUE, so the overhead can be twice as large',
  )(spreads.overheadAssumed),
  overhead_assumed_floor: assumption('an assumed PUE, however low, can be one of 1.6')(spreads.overheadAssumedFloor),
  guessed_size_ratio: assumption('names round, and leave out how many parameters work on a token')(spreads.guessedSize),
  grid_world_ratio_least: world(spreads.gridWorldLeast),
  grid_world_ratio_most: world(spreads.gridWorldMost),
  grid_floor: ipcc('median of hydropower, life-cycle')(gridEnds.floor, 'gCO2e/kWh'),
  gas_lifecycle: ipcc('median of gas, combined cycle, life-cycle')(gridEnds.gasLifecycle, 'gCO2e/kWh'),
  gas_combustion: ipcc('median of gas, combined cycle, direct emissions')(gridEnds.gasCombustion, 'gCO2e/kWh'),
  clean_lifecycle: ipcc('median of solar power, utility scale, life-cycle')(gridEnds.clean, 'gCO2e/kWh'),
  overhead_floor: assumption(
    'no data centre is without overhead, and the fleet of Google has a PUE of 1.10 (https://datacenters.google/efficiency)',
  )(spreads.overheadFloor),
  grid_hour_ratio_least: hours(spreads.gridHourLeast),
  grid_hour_ratio_most: hours(spreads.gridHourMost),
  grid_drift: factor(
    'change per year of 199 zones between the two editions in methodology/data/annual-grid.json and methodology/testdata/earlier-annual-grid.json, 90th percentile, by methodology/scripts/world-ratios.py: Ember, Yearly Electricity Data, https://ember-energy.org',
    'vintages up to 2025, most of them inferred',
    { date: '2026', locator: 'https://ember-energy.org' },
    'CC-BY-4.0',
  )(spreads.gridDriftPerYear),
  grid_live_ratio: factor(
    'gas 410 to 650 around 490 g/kWh: IPCC AR5 WG3 Annex III Table A.III.2, https://www.ipcc.ch/report/ar5/wg3/',
    '2014',
    { date: '2014', locator: 'https://www.ipcc.ch/report/ar5/wg3/' },
  )(spreads.gridLive),
  embodied_ratio_least: assumption(
    'published values for a server with 8 accelerators are 0.32 to 1 of the one used, and operators state lives of 5 to 6 years against 3',
  )(spreads.embodiedLeast),
  embodied_ratio_most: assumption('hardware that is used half of its life')(spreads.embodiedMost),
  water_site_ratio: assumption('a year and a site against the hour and the hall of the call')(spreads.waterOnSite),
  water_grid_ratio: assumption(
    'cooling alone moves the water of a power station by 2 to 3 (Macknick et al. 2012, doi:10.1088/1748-9326/7/4/045802)',
  )(spreads.waterGrid),
  water_world: factor(
    'EcoLogits, doi:10.21105/joss.07471: the average of the world',
    '0.11.3',
    paper,
    'MPL-2.0',
  )(worldWaterLPerKwh, 'L/kWh'),
  water_world_ratio_least: water(spreads.waterWorldLeast),
  water_world_ratio_most: water(spreads.waterWorldMost),
  ceiling_power: assumption('no call draws more than a rack of 72 accelerators with its hosts at full load')(
    uncountedCalls.ceilingPowerW,
    'W',
  ),
  longest_call: assumption('providers and clients give up before an hour')(uncountedBounds.longestS, 's'),
  fewest_tokens: assumption('who replies has written something')(uncountedBounds.fewestTokens, 'token'),
  reported_ratio: assumption('what a provider reports is not verified')(spreads.reported),
  counter_ratio: factor('power readings of NVIDIA accelerators, arXiv:2312.02741', '2024', {
    date: '2024',
    locator: 'https://arxiv.org/abs/2312.02741',
  })(spreads.counter),
  token_share_ratio: assumption('a token of the input takes far less than one of the output')(spreads.tokenShare),
};

const covered: Readonly<Record<string, readonly string[]>> = {
  'model_ratio_least, model_ratio_most': [
    'e_weights',
    'e_operations',
    'e_token',
    'assumed_bits',
    'assumed_concurrency',
    'server_power',
  ],
  context_ratio: ['e_context', 't_context'],
  'time_ratio_least, time_ratio_most': ['t_weights', 't_operations', 't_token'],
  'embodied_ratio_least, embodied_ratio_most': ['lifespan', 'gpu_gwp', 'server_gwp'],
  'utilisation_min, utilisation_max': ['utilisation', 'peak_flop_per_s', 'gpu_power', 'flop_per_parameter_and_token'],
  'class_active_least, class_active_most': ['class_active_min', 'class_active_max'],
  'class_total_least, class_total_most': ['class_total_min', 'class_total_max'],
  k_idle_max: ['k_idle'],
  'grid_live_ratio, grid_hour_ratio_least, grid_hour_ratio_most, grid_drift, grid_floor': ['grid_intensity'],
  'water_grid_ratio, water_world_ratio_least, water_world_ratio_most': ['WUE_grid'],
};
const covers = new Map(Object.entries(covered).flatMap(([by, names]) => names.map((name) => [name, by] as const)));

/** The factors of the bounds that stand for how far off a factor can be; null: none, it is taken as it is. */
export const uncertaintyOf = (name: string): string | null => covers.get(name) ?? null;
