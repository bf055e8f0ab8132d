/**
 * Screens one application as far as it can be: use, then names and dual use.
 *
 * Invariant: an application goes on only by a result that was made with whole lists and the rules of this moment. What
 * prevents that is noted on the application and thrown, so that the job is tried again: nobody is cleared by a fault.
 */
import type { Context } from '../context.ts';
import type { ScreeningSettings } from '../screening/config.ts';
import { ListFault } from '../screening/list-stream.ts';
import { screenNames } from '../screening/screen-names.ts';
import { screenDualUse, screenUse, type UsePolicy } from '../screening/use-policy.ts';
import { type ApplicationRow, findApplication, stageOf } from './application.ts';
import type { Onboarding } from './steps.ts';

export interface ScreeningRunOptions extends Pick<Context, 'db' | 'now'> {
  readonly onboarding: Pick<Onboarding, 'recordUse' | 'recordSanctions' | 'noteWaiting'>;
  readonly policy: UsePolicy;
  readonly settings: ScreeningSettings;
}

/** Does nothing for an application that has no screening to be done. */
export async function screenApplication(accountId: string, options: ScreeningRunOptions): Promise<void> {
  const { db, onboarding, policy } = options;
  const application = await findApplication(db, accountId);
  if (application === null || application.declaration === null) return;
  const { declaration } = application;
  if (stageOf(application) === 'use_screening') {
    const result = screenUse(declaration, policy);
    const taken = await onboarding.recordUse(accountId, result);
    if (taken.ok && taken.value.stage === 'sanctions_screening') await screenApplication(accountId, options);
    return;
  }
  if (stageOf(application) !== 'sanctions_screening') return;
  try {
    const names = await screenNames(namesOf(application), options.settings);
    const dualUse = screenDualUse(declaration, policy);
    const outcome = names.outcome === 'clear' && dualUse.outcome === 'clear' ? 'clear' : 'match';
    const at = options.now().toISOString();
    // Refused if an operator or another instance was faster; then this result is of no use.
    await onboarding.recordSanctions(accountId, { outcome, at, names, dual_use: dualUse });
  } catch (fault) {
    if (fault instanceof ListFault) await onboarding.noteWaiting(accountId, fault.message);
    throw fault;
  }
}

const namesOf = ({ name, billing_contact, technical_contact }: ApplicationRow) => [
  { role: 'organisation', name },
  { role: 'billing_contact', name: billing_contact.name },
  { role: 'technical_contact', name: technical_contact.name },
];
