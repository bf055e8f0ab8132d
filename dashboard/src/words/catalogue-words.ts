/** The texts of the operators' pages Catalogue and Grid. */
const range = ({ max, min }: { readonly min: number; readonly max: number }) =>
  min === max ? min : `${min} to ${max}`;

export const catalogueWords = {
  catalogue: {
    kinds: {
      regions: 'Regions',
      deployments: 'Deployments',
      models: 'Models',
      providers: 'Providers',
      prices: 'Prices',
    },

    id: 'Id',
    name: 'Name',
    lastChange: 'Last change',
    status: 'State',
    statuses: {
      active: 'active',
      degraded: 'incident mode',
      saturated: 'saturated',
      decommissioned: 'decommissioned',
    },
    setIncident: 'Set incident mode',
    liftIncident: 'Lift incident mode',
    findings: {
      degraded: 'out of reach',
      saturated: 'reports overload',
      auth_failed: 'refuses its credential',
      quota_exhausted: 'has no credit left',
      model_missing: 'does not have the model',
    },
    modelKinds: { chat: 'chat', embedding: 'embedding' },
    parametersOf: (total: { min: number; max: number }, active: { min: number; max: number } | null) =>
      active === null || (active.min === total.min && active.max === total.max)
        ? `${range(total)} billion`
        : `${range(total)} billion, ${range(active)} billion active`,
    credentialStates: {
      none: 'needs none',
      set: 'set',
      missing: 'missing',
      elsewhere: 'set for another address',
      unreadable: 'cannot be opened',
    },
    from: {
      operator: 'by an operator',
      file: 'from a file',
      environment: 'from the environment',
    },
    test: 'Test call',
    priceStates: { now: 'in force', later: 'later', over: 'over' },
  },

  grid: {
    zone: 'Zone',
    bases: { lifecycle: 'life cycle', combustion: 'combustion alone', unknown: 'not stated' },
    source: 'Source',
    matches: {
      live_window: 'live',
      fresh: 'live, over 15 minutes old',
      forecast: 'forecast or estimate',
      prior_week: 'the same hour a week ago',
      annual_fallback: 'yearly average',
      none: 'the last value, too old',
    },
    ages: {
      none: 'of this interval',
      minutes: (count: string) => `${count} min`,
      hours: (count: string) => `${count} h`,
      days: (count: string) => `${count} days`,
    },
    states: {
      live: 'up to date',
      tooOld: 'too old',
      yearly: 'not live',
      missing: 'no value',
      unused: 'not used',
    },
    stateHints: {
      live: 'A source has a value for this moment.',
      tooOld: 'The sources of this zone have no value for this moment, so this one stands in for it.',
      yearly: 'A yearly average does not tell one hour from another, and never decides where a call goes.',
      missing: 'Receipts of these regions have no carbon. Give the regions another zone, or the zone a source.',
      unused: 'A source is configured for this zone, and no region is in it.',
    },
    sources: 'Configured sources',
    signals: { average: 'average', marginal: 'marginal, for routing alone', forecast: 'forecast' },
  },
} as const;
