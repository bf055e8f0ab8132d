/** The texts of the operators' page Policy. */
export const policyWords = {
  policy: {
    views: {
      rules: 'Rules',
      versions: 'Versions',
      draft: 'Draft',
      exemptions: 'Exemptions',
      findings: 'Findings',
    },

    holds: (version: number) => `Version ${version} holds`,
    published: (who: string, when: string) => `Published by ${who} at ${when} (UTC).`,
    hash: 'SHA-256 of the rules',
    rule: 'Rule',
    screens: { dual_use: 'dual use', acceptable_use: 'acceptable use' },
    actions: { block: 'blocks the call', flag: 'flags the call' },
    phrases: (count: string) => `${count} phrases, each as whole words:`,
    noRules: 'Nothing is screened',

    version: 'Version',
    who: 'By',
    againTitle: (version: number) => `Publish the rules of version ${version} again`,
    basedOn: (version: number) => `Made from version ${version}.`,
    begunAt: (version: number) =>
      `It does not say which version it was made from. Version ${version} held when it was put in here.`,
    try: 'Try it',
    tried: (count: string) => `The rules can be compiled: ${count} in all`,
    adds: (ids: string) => `Adds ${ids}.`,
    removes: (ids: string) => `Removes ${ids}.`,
    changes: (ids: string) => `Changes ${ids}.`,
    outcomes: { pass: 'passes', flag: 'flagged', block: 'blocked' },
    code: 'Code',
    byRules: 'Rules that match',
    exempt: (rule: string) => `${rule} (lifted for the account)`,
    publish: 'Publish',

    exemption: 'Lift a rule',
    exemptionOf: 'Account',
    reason: 'Reason, which the audit log of the account keeps',
    unexempt: 'End',
    unexemptTitle: (rule: string, account: string) => `Let ${rule} hold for ${account} again`,
    kinds: { 'policy.blocked': 'blocked', 'policy.flagged': 'flagged' },
    find: 'Find',
    requestsMore: (count: string) => `and ${count} more, in the audit log`,
  },
} as const;
