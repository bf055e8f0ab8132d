/** The texts of what operators change of an account. */
export const accountWords = {
  settings: {
    title: 'Settings',
    changeOf: (name: string) => `Change: ${name}`,
    names: {
      tier: 'Tier and limits',
      shadow: 'Limits in shadow',
      tolerance: 'Tolerance for low carbon',
      models: 'Models',
    },
    hints: {
      tier: 'The tier decides about limits, lineages and evidence packs. It holds within a second.',
      shadow: 'A limit in shadow is counted and shown, and refuses nothing.',
      tolerance:
        'How much slower or dearer a region may be than the preferred one, to be chosen because its electricity is cleaner. A call can name less.',
      models: 'Which models and aliases its keys can call.',
    },
    limitNames: {
      per_s: 'Calls a second',
      burst: 'Calls at once',
      per_day: 'Calls a day (UTC)',
      streams: 'Open streams',
    },
    shadows: { rate: 'calls a second, and at once', day: 'calls a day', streams: 'open streams' },
    slower: (ms: string) => `up to ${ms} ms slower`,
    dearer: (percent: string) => `up to ${percent} % dearer`,
  },

  webhook: {
    title: 'Webhook of budgets',
    hint: 'It is told once for each budget and month when 80 % and when 100 % are used.',
    empty: 'No address is set',
    emptyHint: 'Set one, and keep the secret that is shown: what is sent is signed with it.',
    set: 'Set an address',
    setAgain: 'Set it anew',
    setHint: 'A new secret is made and shown once. One that was set before signs no more.',
    url: 'Address (https)',
    secretTitle: 'The secret of the webhook',
    secretOnce: 'It is shown this once. Hand it to those who verify x-gw-signature.',
    secretDone: 'I have handed it on',
    remove: 'Remove the webhook',
    removeHint: 'Nobody is told of budgets any more, and what waits to be sent is forgotten.',
    address: 'Address',
    setAt: 'Set',
    waiting: 'Waiting',
    givenUp: 'Given up',
    last: 'Last delivery',
    noDelivery: 'nothing was sent yet',
    outcomes: { delivered: 'delivered', failed: 'failed, and is tried again', given_up: 'given up after 24 hours' },
    delivery: (outcome: string, at: string, month: string, threshold: number) =>
      `${outcome}, ${at}: ${threshold} % of a budget of ${month}`,
    status: (status: number) => `HTTP ${status}`,
    unreadable: 'Its secret was set with another GW_CREDENTIALS_KEY, and nothing is sent. Set the address anew.',
  },
} as const;
