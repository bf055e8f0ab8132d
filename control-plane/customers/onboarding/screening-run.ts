/**
 * Screens one application as far as it can be: use, then names and dual use; and again the names of an account that was
 * renamed after its first key.
 *
 * Invariant: an application goes on only by a result that was made with whole lists and the rules of this moment, for
 * the names that it has then. What prevents that is noted on the application and thrown, so that the job is tried
 * again: nobody is cleared by a fault.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../../shared/context.ts';
import { openNames } from '../../shared/names/names.ts';
import type { ScreeningSettings } from '../screening/config.ts';
import { ListError } from '../screening/list-stream.ts';
import { type NameToScreen, screenNames } from '../screening/screen-names.ts';
import { screenDualUse, screenUse, type UsePolicy } from '../screening/use-policy.ts';
import { findApplication, type ScreenedNames, screenedNamesOf, stageOf } from './application.ts';
import type { Onboarding } from './steps.ts';

export interface ScreeningRunOptions extends Pick<Context, 'db' | 'now'> {
  readonly onboarding: Pick<
    Onboarding,
    'recordUse' | 'recordSanctions' | 'recordRename' | 'noteUnscreened' | 'noteWaiting'
  >;
  readonly policy: UsePolicy;
  readonly settings: ScreeningSettings;
}

/**
 * Does nothing if there is nothing to screen. Throws if a list cannot be used (a ListError, which is noted on the
 * application), if a name changes meanwhile, or if Postgres is away.
 */
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
  const screened = screenedNamesOf(application);
  if (stageOf(application) === 'complete') {
    const before = application.sanctions_screening?.screened;
    if (isDeepStrictEqual(before, screened)) return;
    try {
      await onboarding.recordRename(
        accountId,
        screened,
        await screenNames(await namesOf(db, screened), options.settings),
      );
    } catch (error) {
      if (error instanceof ListError) await onboarding.noteUnscreened(accountId, screened, error.message);
      throw error;
    }
    return;
  }
  if (stageOf(application) !== 'sanctions_screening') return;
  try {
    const names = await screenNames(await namesOf(db, screened), options.settings);
    const dualUse = screenDualUse(declaration, policy);
    const outcome = names.outcome === 'clear' && dualUse.outcome === 'clear' ? 'clear' : 'match';
    const at = options.now().toISOString();
    // Refused if an operator or another instance was faster; then this result is of no use.
    await onboarding.recordSanctions(accountId, { outcome, at, screened, names, dual_use: dualUse });
  } catch (error) {
    if (error instanceof ListError) await onboarding.noteWaiting(accountId, error.message);
    throw error;
  }
}

async function namesOf(db: Context['db'], screened: ScreenedNames): Promise<readonly NameToScreen[]> {
  const open = await openNames(db, Object.values(screened));
  return Object.entries(screened).map(([role, name]) => ({ role, name: open(name) }));
}
