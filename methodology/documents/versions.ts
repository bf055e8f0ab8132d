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
  'gw-2.0': {
    about:
      'a model of writing that is fitted to what was measured in 2026, with reading, idle machines, a measured tier, and bounds whose coverage is computed',
    changes: [
      {
        what: 'Writing is modelled by what a step reads and computes: the weights that the requests of a step need between them in the bits that they have, the operations of a token, and its context. EcoLogits takes one energy per token and accelerator, times the accelerators that hold the weights in 16 bits',
        numbers:
          '`energy_accelerator_wh`, `energy_host_wh`, `carbon_embodied_g` and what follows from them, of every modelled call: for large mixtures of experts about a third of EcoLogits’, for small dense models about the same; a long context costs more, and eight bits are taken where nobody says how many there are',
        why: 'Published figures of production are a third of EcoLogits’ for the largest models, a count of accelerators jumps between 33 and 34 billion parameters, and eight bits halved value and bounds together',
        parts: ['constants.writing', 'constants.serving', 'steps'],
      },
      {
        what: 'A deployment can state how many requests its servers work on at once; 64 are taken otherwise, as EcoLogits does',
        numbers: 'the same, of the calls of such a deployment; their bounds are closer',
        why: 'It moves the energy of a token by more than the size of the model does, and nobody but the operator knows it',
        parts: ['inputs'],
      },
      {
        what: 'The bounds of writing are what was measured of 447 configurations against the model, from the 5th to the 95th percentile, for each of what can be stated of a deployment: its accelerators, the bits of the weights, the requests at once. EcoLogits’ are those of the literature',
        numbers: '`energy_low_wh`, `energy_high_wh` and what follows from them; `uncertainty_basis` is `combined`',
        why: 'Nine of ten lay between the earlier bounds only where they had been fitted',
        parts: [
          'constants.measuredRatios',
          'constants.spreads',
          'constants.uncertainty',
          'functions',
          'factors',
          'factorsOfServing',
        ],
      },
      {
        what: 'A size class is a range of parameters: the value is that of its stand-in, the bounds are those of the smallest and of the largest model that it stands for. The class `unknown` is that of a model of any size',
        numbers: 'all amounts of the proxy tier',
        why: 'A model of which nobody knows the size passed for one of the largest',
        parts: ['constants.classSpans', 'factorsOfClasses'],
      },
      {
        what: 'Reading the input is charged, by its operations at an assumed utilisation and with the attention to what was read before; what a cache served is in the upper bounds as if it had been read',
        numbers:
          '`energy_accelerator_wh`, `energy_host_wh`, `carbon_embodied_g` and what follows from them; an embedding has numbers',
        why: 'EcoLogits charges the output alone, so a long prompt with a short answer costs next to nothing, and an embedding has no factor',
        parts: ['rules.chargesInput', 'constants.prefill', 'constants.attention'],
      },
      {
        what: 'A tenth of the active energy is added for machines that stand ready',
        numbers: '`energy_idle_wh`, and what follows from it',
        why: 'Google found that share in arXiv:2508.15734; without it the machines between two calls are charged to nobody',
        parts: ['rules.idleShare'],
      },
      {
        what: 'A count can stand for fewer tokens, or for more, with the reasons in `usage.doubts`; one that was estimated from text is within a ratio of 2.5',
        numbers:
          '`energy_low_wh`, `energy_high_wh` and what follows from them, of calls whose counts go beyond what they show, whose answer broke off, or whose prompt has parts that nobody counted',
        why: 'Such a count is no count, and refusing it leaves the call without numbers for ever. The ratio is an assumption: 27 texts (prose in 17 languages, code, tables, digits, emoji) took 1.6 to 9.2 bytes per token of `o200k_base` and `cl100k_base`',
        parts: ['constants.estimatedCounts'],
      },
      {
        what: 'Energy that the provider or counters of the GPUs measured is used where it is plausible, beside what the model gives for it (`modelled_energy_wh`). The bound on the side of the model grows with the distance of the two. A provider’s own EcoLogits estimate is not a measurement',
        numbers: '`tier`, and with it every amount, of such calls',
        why: 'A measurement of the call itself is closer than any model of it, and a figure that is far from the model may be wrong as may the model',
        parts: ['rules.measurementsOnly', 'constants.telemetry', 'constants.comparison'],
      },
      {
        what: 'A measured total is used where nobody counted the tokens, up to what 120 kW, a rack of 72 accelerators at full load, take in the upstream time',
        numbers:
          'such calls have `energy_wh`, `carbon_g` and their bounds; the counts, `carbon_embodied_g` and `sci_g_per_request` are null',
        why: 'The energy of the call is known. That a call ends within an hour and has at least one token are assumptions',
        parts: ['rules.measuresUncounted', 'constants.uncountedCalls', 'constants.uncountedBounds'],
      },
      {
        what: 'What the grid value counts, the year of a yearly one, and whether its source calls it an estimate are stated; a value of combustion has the rest of the life cycle in its upper bound, and the average of the world has a spread of its own',
        numbers: '`grid_basis`, `grid_vintage`, `carbon_low_g`, `carbon_high_g`',
        why: 'Values of the whole life cycle and of combustion alone stood beside each other as equals',
        parts: ['constants.gridEnds', 'gridFactors'],
      },
      {
        what: 'Only a measured grid reading is `live_window`, one that its source calls an estimate is a `forecast`, and the match follows from the age as it is stated',
        numbers: '`grid_temporal_match` of such readings, and their `carbon_low_g` and `carbon_high_g`',
        why: 'Sources fill gaps with averages of other hours, and an age of 15.04 minutes was stated as 15 and `fresh`',
        parts: ['rules.liveIsMeasured', 'rules.matchesStatedAge', 'rules.estimatesAreForecasts'],
      },
      {
        what: 'Water has bounds',
        numbers: '`water_low_ml` and `water_high_ml`',
        why: 'The water of power stations moves by more than their carbon does',
        parts: ['constants.worldWaterLPerKwh'],
      },
      {
        what: 'A range of parameters that stands on its head, more active parameters than there are, and weights of less than a bit are refused',
        numbers: 'calls with such facts are degraded (`calculator_fault`); the catalogue has none',
        why: 'There is no such model',
        parts: ['rules.refusesImpossible'],
      },
    ],
  },
  'ecologits-0.11.3': {
    about:
      'EcoLogits 0.11.3 by its published formulas: the output alone, no idle share, no measured tier, no factor for an embedding',
    changes: [],
  },
};
