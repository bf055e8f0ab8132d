/**
 * Tells operators which deployments need them: the provider refuses the credential, has no credit for it, or does not know its model.
 *
 * Invariants: a notice names the deployment and the model, never a credential or a word of the provider; any answer ends it. Pinned calls
 * tell as much as free ones, since nothing but the alarm depends on it.
 */
import { type OperatorFault, operatorFaults } from '@gw/contract/internal/operator-faults';
import type { Logger } from '@gw/service/log';
import { counter, gauge, registering } from '@gw/service/metric';
import type { Registry } from 'prom-client';
import type { AttemptOutcome, AttemptResult } from './attempt-outcome.ts';
import type { ShownTrouble } from './unavailable-deployments.ts';

export interface JudgedOutcome {
  /** Null for an answer. */
  readonly outcome: AttemptOutcome | null;
  readonly result: AttemptResult;
}

export interface OperatorNotices {
  /** `name`: deployment and model, as `troubleField` makes it. */
  note(name: string, judged: JudgedOutcome): void;
  register(registry: Registry): void;
}

/** A single 403 may be due to the client's text. */
const refusalsBefore = 3;
/** A deployment without calls is shown for this long, ms. */
const shownForMs = 600_000;

/** Distinguishes the notice from the measured trouble of the same deployment and model. */
export const noticeField = (name: string): string => `${name} operator`;

const isOperatorFault = (outcome: AttemptOutcome | null): outcome is OperatorFault =>
  operatorFaults.some((fault) => fault === outcome);

/** `show` gets the notice when it begins or continues, and null when an answer ends it. */
export function createOperatorNotices(
  log: Pick<Logger, 'error' | 'info'>,
  show: (name: string, notice: ShownTrouble | null) => void,
): OperatorNotices {
  /** Only deployments and models of the catalogue get in, so the map stays small. */
  const failing = new Map<string, { failures: number; isTold: boolean }>();
  const faults = counter('gw_operator_faults_total', 'Attempts that failed because a deployment needs its operator', {
    outcome: operatorFaults,
  });
  const answered = (name: string): void => {
    const known = failing.get(name);
    failing.delete(name);
    if (!known?.isTold) return;
    log.info({ deployment: name }, 'a deployment no longer needs its operator');
    show(noticeField(name), null);
  };
  return {
    note: (name, { outcome, result }) => {
      if (result === 'answered') return answered(name);
      if (!isOperatorFault(outcome)) return;
      faults.inc({ outcome });
      const known = failing.get(name) ?? { failures: 0, isTold: false };
      failing.set(name, known);
      known.failures += 1;
      if (result !== 'needs_operator' && known.failures < refusalsBefore) return;
      if (!known.isTold) log.error({ deployment: name, outcome }, 'a deployment needs its operator');
      known.isTold = true;
      show(noticeField(name), { status: outcome, forMs: shownForMs, failures: known.failures });
    },
    register: registering(
      faults,
      gauge(
        'gw_deployments_needing_operator',
        'Models of deployments that fail here until their operator acts',
        () => [...failing.values()].filter(({ isTold }) => isTold).length,
      ),
    ),
  };
}
