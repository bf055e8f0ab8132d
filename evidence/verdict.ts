import type { PackVerification } from './verify.ts';

/**
 * `fails`: something does not hold. `unauthenticated`: all holds, but nobody said whom to trust. `ask`: all holds, but somebody
 * should be asked, since receipts came late, are not in the log although they should be, or were settled since the earlier pack, or since an hour that
 * the period cuts has too many calls to tell whether all are there, or since a witness that was asked for has not cosigned yet.
 */
export type Verdict = 'holds' | 'fails' | 'unauthenticated' | 'ask';

/** `log`: absent for a table, which has no proofs. */
export function verdictOf({
  log,
  mismatches,
  signature,
}: Pick<PackVerification, 'mismatches' | 'signature'> & { readonly log?: PackVerification['log'] }): Verdict {
  if (mismatches.length > 0 || signature === 'invalid' || signature === 'unknown_key') return 'fails';
  const asked = log && [log.late, log.unlogged, log.changed, log.waiting, log.whole?.open ?? []];
  if (asked?.some(({ length }) => length > 0)) return 'ask';
  return signature === 'trusted' ? 'holds' : 'unauthenticated';
}
