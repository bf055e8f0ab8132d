/**
 * Every constant of the calculation, with its unit and source.
 *
 * Invariant: a number that a formula uses stands here, once, and is part of the methodology's hash.
 */

/**
 * EcoLogits' own methodology, 0.11.3 (doi:10.21105/joss.07471): an NVIDIA H100 80 GB in an 8-GPU server, serving 64 requests at once.
 * The two fits are on ML.ENERGY's measurements of models up to 200 billion parameters.
 */
export const serving = {
  /** Wh per output token and GPU = alpha · exp(beta · batchSize) · active parameters (billions) + gamma. */
  gpuEnergyAlpha: 1.1665273170451914e-6,
  gpuEnergyBeta: -0.011205921025579175,
  gpuEnergyGamma: 4.052928146734005e-5,
  /** Seconds per output token = alpha · active parameters (billions) + beta · batchSize + gamma. */
  latencyAlpha: 0.0006785088094353663,
  latencyBeta: 0.0003119310311688259,
  latencyGamma: 0.019473717579473387,
  batchSize: 64,
  weightBits: 16,
  gpuMemoryGb: 80,
  memoryOverhead: 1.2,
  /** Billion parameters. */
  fittedUpToB: 200,
  /** A p5.48xlarge without its GPUs (BoaviztAPI). */
  serverPowerW: 1200,
  serverGpus: 8,
} as const;

/**
 * Our model of writing, on 397 configurations of 18 open models on H100 and B200 (ML.ENERGY v3, data/mlenergy-v3.json), fitted by
 * scripts/fit-serving.ts: a step reads the weights that its requests need between them, each token takes operations of its own and
 * reads its context, and some energy depends on none of these. Time is that of one accelerator for this call alone.
 *
 * The context is its thousands of tokens times the cube root of active × total parameters (billions), which keys and values grow
 * with. Weights of 4 to 16 bits are in use; 8 are taken where nobody says. 64 requests at once are the assumption of EcoLogits.
 */
export const writing = {
  whPerWeightGb: 67.6e-6,
  whPerActiveB: 1.19e-6,
  whPerContext: 1.18e-6,
  whPerToken: 4.8e-6,
  sPerWeightGb: 517e-6,
  sPerActiveB: 3.71e-6,
  sPerContext: 5.2e-6,
  sPerToken: 47.9e-6,
  assumedBits: 8,
  assumedConcurrency: 64,
} as const;

/** Making the hardware, spread over its life of three years: GPU from ADEME 2026, server from BoaviztAPI. */
export const embodied = {
  lifespanS: 94_608_000,
  gpuGwpKg: 273,
  gpuAdpeKgSb: 0.00895,
  gpuPeMj: 3721,
  serverGwpKg: 5700,
  serverAdpeKgSb: 0.37,
  serverPeMj: 70_000,
} as const;

/**
 * Reading the input, our own derivation: a forward pass takes 2 operations per parameter and token (Kaplan et al. 2020,
 * arXiv:2001.08361); peak rate (dense BF16) and power of an H100 SXM5 from NVIDIA's data sheet. The utilisation is an
 * assumption with a wide range, and the range is carried into the receipt's bounds.
 */
export const prefill = {
  flopPerParameterAndToken: 2,
  peakFlopPerS: 989.4e12,
  gpuPowerW: 700,
  utilisation: 0.4,
  utilisationMin: 0.25,
  utilisationMax: 0.6,
} as const;

/**
 * Idle capacity per Wh of active machines: 0.02 / (0.14 + 0.06) from the split that Google published for a median text
 * prompt (arXiv:2508.15734, 2025). Rounding of those figures alone spans 0.07 to 0.13.
 */
export const idleShare = 0.1;

/** EcoLogits' receipts have the half-widths of the intervals published for each tier, where a model has no parameter range. */
export const literatureUncertainty = { proxy: 0.6, parametric: 0.35 } as const;

/** How far measured energy may be from the modelled energy, as a ratio either way, before it is taken for an error. */
export const telemetryLimits = { plausibleRatio: 100 } as const;

/**
 * How far measured energy can be from the modelled one, as a ratio either way, and still be called plausible. An assumption: the
 * measurements are those of a benchmark, and servers and hardware as they are in use move the energy of a call by some times.
 */
export const comparison = { plausibleWithin: 5 } as const;

/**
 * Token counts that were estimated from text, at 4 bytes per token: how far the true count may be from it, as a ratio
 * either way. An assumption: 27 texts (prose in 17 languages, code, tables, digits, emoji) took 1.6 to 9.2 bytes per token
 * of o200k_base and cl100k_base, and the ratio spans 1.6 to 10.
 */
export const estimatedCounts = { ratio: 2.5 } as const;

/**
 * Measured energy of a call whose tokens nobody counted: no call is taken to draw more than a rack of 72 accelerators
 * with its hosts does at full load. An assumption, far above what any call can hold for itself.
 */
export const uncountedCalls = { ceilingPowerW: 120_000 } as const;

/**
 * Such a call is taken to last no longer than an hour where its time is not known, and to have written, or as an embedding read,
 * at least one token. Assumptions: providers and clients give up long before, and who replies has written something.
 */
export const uncountedBounds = { longestS: 3600, fewestTokens: 1 } as const;

/**
 * Claimed tokens are held against what accelerators can have drawn for a call (receipt/power.ts). No formula has them. An
 * H100 draws 700 W and no accelerator that is sold 1,400 W or more. The times allow for what a provider did beside the call: a second
 * for a reply that it had begun before it was asked, a tenth of one for what clocks and networks hide. All three are assumptions.
 */
export const powerLimits = { otherAcceleratorW: 1400, graceS: 1, travelS: 0.1 } as const;

/**
 * How far each part can be from its value, as ratios either way (at least 1), which the bounds combine. Each is taken for the
 * 90 % interval of a log-normal distribution. The sources stand in bound-factors.ts.
 */
export const spreads = {
  /** Keys and values of the context: few models share them between all heads, and few have some for each head. */
  context: 4,
  /** Layers and width of a mixture of experts, and of a model that attends to a window alone, are not those of a dense one. */
  attention: 2,
  /** A deployment that states other accelerators than those that were measured, or none. */
  otherHardware: 2,
  /** Idle Wh per active Wh at most, against `idleShare`. */
  idleShareMax: 0.13,
  /** The overhead, PUE − 1, against the stated one. */
  overhead: 0.3,
  /** Overhead that no stated PUE rules out, as a share of IT energy. */
  overheadFloor: 0.1,
  /** The same where the stated PUE is assumed, or nobody says what it rests on. */
  overheadAssumed: 1,
  overheadAssumedFloor: 0.6,
  /** Parameter counts that were guessed from a name. */
  guessedSize: 2,
  /** One hour against the average of its year, and a later year, for each year in between. */
  gridHourLeast: 1.75,
  gridHourMost: 1.5,
  gridDriftPerYear: 1.17,
  gridLive: 1.33,
  /** The average of the world in the place of a zone that nobody named. */
  gridWorldLeast: 12.3,
  gridWorldMost: 1.7,
  embodiedLeast: 3.8,
  embodiedMost: 2,
  waterOnSite: 1.5,
  waterGrid: 2,
  /** The world's average in the place of a country's own value. */
  waterWorldLeast: 2.65,
  waterWorldMost: 3.2,
  /** Energy that a provider reports, and that a counter of accelerators measures. */
  reported: 1.25,
  counter: 1.05,
  /** The share of a call in what accelerators took for several, found by its tokens. */
  tokenShare: 4,
} as const;

/** L/kWh that EcoLogits' table has for every country without a value of its own. */
export const worldWaterLPerKwh = 3.908;

/**
 * Attention to what was read before, in reading: 2 · layers · width operations per token of context for the scores (Kaplan et al. 2020), and as many for the values. Layers and
 * width follow from the parameters, of which a layer has 12 · width², at a width of 100 layers (the aspect ratio of common models).
 * In a mixture of experts they follow neither from all parameters nor from the active ones, and their geometric mean comes close.
 */
export const attention = { aspect: 100, parametersPerSquaredWidth: 12 } as const;

/**
 * A model of each class that stands in for one whose parameters are unknown: billions of parameters, active and total.
 * `frontier` covers the range of estimates for closed mixture-of-experts models; `unknown`, a model of any size, lies between `small`
 * and `frontier` (the geometric means of the two).
 */
export const standIns = {
  small: { active: { min: 8, max: 8 }, total: { min: 8, max: 8 } },
  medium: { active: { min: 24, max: 24 }, total: { min: 24, max: 24 } },
  large: { active: { min: 70, max: 70 }, total: { min: 70, max: 70 } },
  moe_small_active: { active: { min: 5.1, max: 5.1 }, total: { min: 117, max: 117 } },
  frontier: { active: { min: 44, max: 132 }, total: { min: 440, max: 440 } },
  unknown: { active: { min: 26.5, max: 26.5 }, total: { min: 59, max: 59 } },
  embedding: { active: { min: 0.3, max: 0.3 }, total: { min: 0.3, max: 0.3 } },
} as const;

/**
 * The models that each class stands for, from the smallest to the largest, which the bounds hold. An assumption: the open models
 * of the kind, of `frontier` those with 20 to 132 billion active parameters of 200 to 1,000 (Qwen3 235B-A22B to Kimi K2).
 */
export const classSpans = {
  small: { active: { min: 0.1, max: 10 }, total: { min: 0.1, max: 10 } },
  medium: { active: { min: 10, max: 40 }, total: { min: 10, max: 40 } },
  large: { active: { min: 40, max: 120 }, total: { min: 40, max: 120 } },
  moe_small_active: { active: { min: 3, max: 15 }, total: { min: 20, max: 200 } },
  frontier: { active: { min: 20, max: 132 }, total: { min: 200, max: 1000 } },
  unknown: { active: { min: 0.1, max: 132 }, total: { min: 0.1, max: 1000 } },
  embedding: { active: { min: 0.02, max: 8 }, total: { min: 0.02, max: 8 } },
} as const;

/**
 * The limits for electricity, gCO2e/kWh (medians of IPCC AR5 WG3, Annex III, Table A.III.2). It never counts less than
 * hydropower does over its life, whatever a source says. A value for combustion only, or of unknown scope, lacks the making
 * of fuel and plants: for gas the whole life is 490 against 370; everything else adds at most as much as solar power, 48.
 */
export const gridEnds = { floor: 24, gasLifecycle: 490, gasCombustion: 370, clean: 48 } as const;
