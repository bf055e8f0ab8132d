/**
 * The changes of each methodology: which numbers of a receipt changed, and why. The page of versions is made from this.
 *
 * Invariant: every methodology has its entry (the compiler asks for it), and every rule and constant that its document does
 * not share with the one before it is named by one of its changes, as are new functions and steps (versions.test.ts). What
 * stands here is about documents that are frozen, but it is not part of them: it may be worded better.
 */
import type { MethodologyId } from './methodologies.ts';

export interface Change {
  readonly what: string;
  /** The fields of the receipt that it moves, and of which calls. */
  readonly numbers: string;
  readonly why: string;
  /** The parts of the document that it added or changed: `rules.<name>`, `constants.<name>`, `functions`, `steps`. */
  readonly parts: readonly string[];
}

export interface Version {
  /** A description in one line. */
  readonly about: string;
  /** Against EcoLogits' methodology, which is the first of them. */
  readonly changes: readonly Change[];
}

export const versions: Readonly<Record<MethodologyId, Version>> = {
  'gw-1.5': {
    about: 'as gw-1.4, with bounds for counts that can stand for fewer tokens or for more',
    changes: [
      {
        what: 'A count can stand for fewer tokens, or for more: `usage.promptLeast`, `promptMost`, `completionLeast` and `completionMost` of the facts, with the reasons in `usage.doubts`. The bounds are taken at its ends',
        numbers:
          '`energy_low_wh`, `energy_high_wh` and what follows from them, of calls whose counts go beyond what they show (hidden reasoning, withheld text, what a provider read by itself), whose answer broke off, or whose prompt has pictures, sound or files that nobody counted; no value moves, and no bound of another call',
        why: 'Such counts were refused, so that the calls had no numbers for ever, and the upper bounds of an answer that broke off were those of what was delivered',
        parts: ['rules.boundsCounts', 'inputs', 'steps'],
      },
    ],
  },
  'gw-1.4': {
    about: 'the output as in EcoLogits; reading, idle machines, a measured tier, and bounds from their sources by us',
    changes: [
      {
        what: 'Bounds are combined from the parts that they depend on, each a ratio with its source among the factors of the lineage, in place of one half-width for the tier or the range of parameters',
        numbers:
          '`energy_low_wh`, `energy_high_wh`, `carbon_low_g` and `carbon_high_g` of every receipt, mostly wider; `uncertainty_basis` is `combined`; `water_low_ml` and `water_high_ml` are new; no value moves',
        why: 'The half-widths had no source and left out the largest unknowns: how many calls a server runs at once, the grid, the site, the making of the hardware, water',
        parts: [
          'rules.combinesBounds',
          'constants.spreads',
          'constants.attention',
          'constants.worldWaterLPerKwh',
          'constants.uncertainty',
          'constants.telemetry',
          'functions',
          'steps',
        ],
      },
      {
        what: 'The bounds of a size class are those of the smallest and of the largest model that it stands for, and those of a range of parameters of its ends, each with all that is off beside it',
        numbers:
          '`energy_low_wh`, `energy_high_wh` and what follows from them, of such calls: wider, most of all with a long context',
        why: 'A range, or a class, had narrower bounds than a model in it, since attention was taken at the end where it is least, and since what is off beside the work was combined around a value that the range had moved',
        parts: ['constants.classSpans', 'constants.classEnds', 'steps'],
      },
      {
        what: 'What a cache served is in the upper bounds as if it had been read',
        numbers:
          '`energy_high_wh`, `carbon_high_g` and `water_high_ml` of calls with cached tokens; of a call with nothing else they were 0',
        why: 'Reading a cached prompt is not free, and nobody but the provider sees what it spared; the value counts none of it',
        parts: ['steps'],
      },
      {
        what: 'The average of the world has a spread of its own where it stands for a place that nobody named; a grid value of combustion, or of nobody knows what, has the rest of the life cycle in its upper bound, and none is below that of hydropower there',
        numbers: '`carbon_low_g` and `carbon_high_g` of such calls',
        why: 'An unknown place had the bounds of a known one, a combustion value those of the life cycle, and an intensity of 0 none',
        parts: ['constants.spreads', 'constants.gridEnds', 'steps'],
      },
      {
        what: 'Parameter counts that were guessed from a name, and a PUE that is assumed or has no evidence, have spreads of their own; water has that of the PUE',
        numbers: 'all bounds of such calls, and the words of `tier_reason`',
        why: 'A guess had the bounds of what somebody stated',
        parts: ['constants.spreads', 'steps'],
      },
      {
        what: 'Attention to what was read before, which the formulas leave out, is in the upper bounds, of reading (to the input) and of writing (to the input and the output)',
        numbers:
          '`energy_high_wh`, `carbon_high_g` and `water_high_ml`: next to nothing at 1,000 tokens of context, some times at 100,000',
        why: 'A long context takes more operations than 2 per parameter and token, and a model of the operations without it is a lower bound',
        parts: ['constants.attention', 'steps'],
      },
      {
        what: 'Formulas that hold a part of ours (idle, reading, an empty output) are no longer credited to EcoLogits',
        numbers:
          'none: the `origin` of `generation_latency`, `request_it_energy` and `request_embodied_gwp` in the lineage is `gw`',
        why: 'EcoLogits never published them so',
        parts: ['steps'],
      },
      {
        what: 'The SCI score and the temporal match have a step',
        numbers: 'none: `sci_g_per_request` and `grid_temporal_match` are in the lineage',
        why: 'They were stated without a formula',
        parts: ['steps'],
      },
      {
        what: 'The document holds the factors of the size classes, the grammar of the formulas, and of each input and factor all that a lineage prints of it: unit, place in the facts, source, version, licence, date, locator',
        numbers: 'none',
        why: 'The factors follow from the stand-ins of the classes, but nobody could see them without running the code, and a lineage with other factors could only be told by that code',
        parts: [
          ...['constants.classFactors', 'constants.classEnds', 'functions'],
          ...['inputs', 'factors', 'factorsOfClasses', 'factorsOfKinds', 'gridFactors'],
        ],
      },
      {
        what: 'What the grid value counts, the year of a yearly one, and whether its source calls it an estimate are stated, and where the water factor is the average of the world or of a region’s country',
        numbers:
          'none moves: `grid_basis` and `grid_vintage` are new, and in the lineage `is_estimated` and the source of `WUE_grid`',
        why: 'Values of the whole life cycle and of combustion alone stood beside each other as equals, and the average of the world passed for that of a country',
        parts: ['rules.statesGridBasis'],
      },
      {
        what: 'A reading that its source calls an estimate (`isEstimated`, or stated `fresh`) is a `forecast`, with its age, up to two hours, and has the bounds of one hour on a yearly value',
        numbers:
          '`grid_temporal_match` of such readings, which were `fresh` or `live_window`; their `carbon_low_g` and `carbon_high_g`',
        why: 'Nobody has measured it, and sources fill gaps with averages of other hours',
        parts: ['rules.estimatesAreForecasts', 'steps'],
      },
      {
        what: 'Measured energy is what somebody measured: a provider’s own EcoLogits estimate (`ecologits_impacts`) is kept in the lineage and not used',
        numbers: 'such calls are `parametric` or `proxy`, with our estimate, and no longer `telemetry`',
        why: 'The tier said “measured” of an estimate that nobody can compute again, in the place of one that everybody can',
        parts: ['rules.measurementsOnly'],
      },
      {
        what: 'What the model gives for what was measured stands beside it, and only a figure within a factor of 5 of it is called plausible',
        numbers:
          '`modelled_energy_wh` is new (without the overhead, where the figure is), with its steps in the lineage, and the ratio in `tier_reason`; no value moves',
        why: 'Every figure within a factor of 100 was called plausible, and nobody saw the factor. That of 5 is an assumption: batches and hardware in use move the energy of a call by some times',
        parts: ['rules.statesModelled', 'constants.comparison', 'steps'],
      },
      {
        what: 'The bounds of a measured figure further from the model than that hold those of the modelled energy too',
        numbers: '`energy_low_wh` or `energy_high_wh` of such calls, and those of carbon and water',
        why: 'One of the two is wrong and nobody knows which, but the bounds were those of a plausible figure',
        parts: ['steps'],
      },
      {
        what: 'The bounds of a measured figure that is compared with no model reach to all that it could be compared with: from the smallest class to the largest, where the model is not known, and from one token to what a rack draws in the time, where nobody counted the tokens',
        numbers: '`energy_low_wh`, `energy_high_wh` and what follows from them, of such calls: by far wider',
        why: 'They were a quarter either way, where the same figure with its model and its tokens was doubtful: who said less was believed more',
        parts: ['steps'],
      },
      {
        what: 'Measured energy of a model that is not known is refused below a hundredth of what the class `small` takes for the tokens (an embedding: the class `embedding`)',
        numbers: 'the calls with such figures are degraded, and no longer `telemetry`',
        why: 'Nothing was too little to be believed',
        parts: ['rules.floorClasses'],
      },
      {
        what: 'A measured total of a call whose tokens nobody counted has a floor, a hundredth of what one token of the class `small` takes (of an embedding, of the class `embedding`), and a ceiling even if the time of the call is not known: an hour is taken then',
        numbers: 'the calls with figures beyond that are degraded, and no longer `telemetry`',
        why: 'A figure of any size was believed there. That a call ends within an hour, and has at least one token, are assumptions',
        parts: ['rules.boundsUncounted', 'constants.uncountedBounds'],
      },
      {
        what: 'A range of parameters that stands on its head, more active parameters than there are, and weights of less than a bit are refused',
        numbers: 'calls with such facts are degraded (`calculator_fault`); the catalogue never had any',
        why: 'The package and `verify` gave numbers for what cannot be',
        parts: ['rules.refusesImpossible'],
      },
      {
        what: 'Where a token count was estimated from text (`usage.estimated`, 4 bytes per token), the true count is taken to lie within a ratio of 2.5 either way',
        numbers:
          '`energy_low_wh`, `energy_high_wh`, `carbon_low_g` and `carbon_high_g` of such calls are so much wider; no value moves',
        why: 'An estimate had the bounds of a count. The ratio is an assumption: 27 texts (prose in 17 languages, code, tables, digits, emoji) took 1.6 to 9.2 bytes per token of `o200k_base` and `cl100k_base`, and it spans 1.6 to 10',
        parts: ['rules.widensEstimates', 'constants.estimatedCounts', 'steps'],
      },
      {
        what: 'A measured total is used where nobody counted the tokens (`usage: null`)',
        numbers:
          'such calls have `energy_wh`, `carbon_g` and their bounds, and no longer a degraded receipt; `prompt_tokens`, `completion_tokens`, `carbon_embodied_g` and `sci_g_per_request` are null',
        why: 'The energy of the call was known and was thrown away. There is nothing modelled to compare it with, so it may be at most what 120 kW, a rack of 72 accelerators at full load, take in the upstream time (an assumption too)',
        parts: ['rules.measuresUncounted', 'constants.uncountedCalls'],
      },
      {
        what: 'Only a measured grid reading is `live_window`',
        numbers: '`grid_temporal_match` of estimated readings is at best `fresh`',
        why: 'A reading that its source calls an estimate passed for a live one',
        parts: ['rules.liveIsMeasured'],
      },
      {
        what: 'The match follows from the age as it is stated, with its one decimal',
        numbers: '`grid_temporal_match` next to the limits of 15 and 120 minutes',
        why: 'It followed from the age before rounding, so 15.04 minutes were stated as 15 and `fresh`',
        parts: ['rules.matchesStatedAge'],
      },
      {
        what: 'Measured energy of a model that is not known at all is refused above 100 times what the class `frontier` takes for the tokens',
        numbers: '`tier`, and with it every amount, of calls that state more',
        why: 'It was compared with nothing, so any figure was believed',
        parts: ['rules.ceilingClass'],
      },
      {
        what: 'Energy that the provider or counters of the GPUs measured is used where it is plausible',
        numbers: '`tier`, and with it every amount, of such calls',
        why: 'A measurement of the call itself is closer than any model of it',
        parts: ['constants.telemetry', 'steps'],
      },
      {
        what: 'The formulas are complete and say in which order they are evaluated',
        numbers: 'none',
        why: 'Those of EcoLogits are written for readers; from these anybody can compute every number of a receipt to the last digit',
        parts: ['functions', 'steps'],
      },
      {
        what: 'Reading the input is charged, by its operations at an assumed utilisation',
        numbers:
          '`energy_accelerator_wh`, `energy_host_wh`, `carbon_embodied_g` and what follows from them; an embedding has numbers',
        why: 'EcoLogits charges the output alone, so a long prompt with a short answer costs next to nothing, and an embedding has no factor',
        parts: ['rules.chargesInput', 'constants.prefill', 'steps'],
      },
      {
        what: 'A tenth of the active energy is added for machines that stand ready',
        numbers: '`energy_idle_wh`, and what follows from it',
        why: 'Google found that share in arXiv:2508.15734; without it the machines between two calls are charged to nobody',
        parts: ['rules.idleShare'],
      },
    ],
  },
  'ecologits-0.11.3': {
    about:
      'EcoLogits 0.11.3 by its published formulas: the output alone, no idle share, no measured tier, no factor for an embedding',
    changes: [],
  },
};
