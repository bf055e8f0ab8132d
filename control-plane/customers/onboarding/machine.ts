/**
 * The six steps from an application to a key, as a table.
 *
 * Invariant: `moves` holds every transition that may happen; whatever is not in it is refused. No step can be skipped,
 * repeated or done out of order, and from `rejected`, `expired` and `complete` nothing leads on.
 *
 * The steps are those of the API specification, part 1.5: (1) account creation, (2) self-declaration, screened against
 * the use policy, (3) screening for sanctions and dual use, (4) manual review, for industries of high risk alone,
 * (5) signed contract, (6) issue of the key.
 */

/** The states as they are stored. */
export const onboardingStates = [
  'account_created',
  'use_screening',
  'sanctions_screening',
  'manual_review',
  'contract_pending',
  'key_pending',
  'complete',
  'rejected',
  'expired',
] as const;
export type OnboardingState = (typeof onboardingStates)[number];

/** Where an application stands: its state, and for a screening also whether it has found something. */
export const stages = [...onboardingStates, 'use_match', 'sanctions_match'] as const;
export type Stage = (typeof stages)[number];

/** The actions of operators on an application. */
export const operatorActions = [
  'declare',
  'clear_match',
  'reject_match',
  'approve_review',
  'reject_review',
  'sign_contract',
  'issue_key',
] as const;
/** The actions of the gateway on an application: the outcomes of screenings, and the expiry. */
export const systemActions = [
  'pass_use',
  'match_use',
  'prohibit_use',
  'pass_sanctions',
  'match_sanctions',
  'expire',
] as const;
export type OnboardingAction = (typeof operatorActions)[number] | (typeof systemActions)[number];

export interface Move {
  /** The step of the specification in which it happens, 1 to 6. */
  readonly step: number;
  readonly to: Stage;
}

/** Leads to step 4 only for industries of high risk; the others skip it. */
const afterSanctions = (highRisk: boolean): Move => ({ step: 3, to: highRisk ? 'manual_review' : 'contract_pending' });

type Table = Readonly<Record<Stage, Partial<Record<OnboardingAction, Move | ((highRisk: boolean) => Move)>>>>;

const rejected = (step: number): Move => ({ step, to: 'rejected' });
const expires = (step: number) => ({ expire: { step, to: 'expired' } }) as const;

const moves: Table = {
  account_created: { ...expires(1), declare: { step: 2, to: 'use_screening' } },
  // An application that waits for the gateway does not expire.
  use_screening: {
    pass_use: { step: 2, to: 'sanctions_screening' },
    match_use: { step: 2, to: 'use_match' },
    prohibit_use: rejected(2),
  },
  use_match: {
    ...expires(2),
    clear_match: { step: 2, to: 'sanctions_screening' },
    reject_match: rejected(2),
  },
  sanctions_screening: {
    pass_sanctions: afterSanctions,
    match_sanctions: { step: 3, to: 'sanctions_match' },
  },
  sanctions_match: { ...expires(3), clear_match: afterSanctions, reject_match: rejected(3) },
  manual_review: {
    ...expires(4),
    approve_review: { step: 4, to: 'contract_pending' },
    reject_review: rejected(4),
  },
  contract_pending: { ...expires(5), sign_contract: { step: 5, to: 'key_pending' } },
  key_pending: { ...expires(6), issue_key: { step: 6, to: 'complete' } },
  complete: {},
  rejected: {},
  expired: {},
};

/**
 * Returns the move, or null if the action is not allowed here. `highRisk` is known once the declaration is screened.
 */
export function moveOf(stage: Stage, action: OnboardingAction, highRisk: boolean): Move | null {
  const move = moves[stage][action];
  if (move === undefined) return null;
  return typeof move === 'function' ? move(highRisk) : move;
}

/** Returns the state that a stage is stored as: a match waits in the state of its screening. */
export function stateOf(stage: Stage): OnboardingState {
  if (stage === 'use_match') return 'use_screening';
  return stage === 'sanctions_match' ? 'sanctions_screening' : stage;
}

export const isFinal = (stage: Stage): boolean => Object.keys(moves[stage]).length === 0;
