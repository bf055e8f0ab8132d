import type { Application } from '../../api/types.ts';

export type Decision = 'clear-match' | 'reject-match' | 'approve-review' | 'reject-review';

/** Returns the decisions that an admin can make about an application in this stage. */
export function decisionsIn(stage: Application['stage']): readonly Decision[] {
  switch (stage) {
    case 'use_match':
    case 'sanctions_match':
      return ['clear-match', 'reject-match'];
    case 'manual_review':
      return ['approve-review', 'reject-review'];
    default:
      return [];
  }
}
