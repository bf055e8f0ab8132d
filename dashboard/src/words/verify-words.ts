/** The texts of verifying a pack. */
import { words as common } from './words.ts';

export const words = {
  ...common,
  verify: {
    choose: 'Choose a file',
    verdicts: {
      holds: 'The pack holds',
      fails: 'The pack does not hold',
      unauthenticated: 'All holds, but nobody said whom to trust',
      ask: 'The pack holds, but somebody should be asked',
    },
    excludedFor: (receipt: string, reason: string) => `${receipt} is left out: ${reason}`,
    late: (receipt: string) => `${receipt} is new, and belongs before the earlier pack or checkpoint`,
    unlogged: (receipt: string) => `${receipt} is not in the log, although it should be by now`,
    changed: (receipt: string) => `${receipt} has changed since the earlier pack or checkpoint`,
    more: (count: string) => `And ${count} more, which ./gw verify --json tells`,
    signatures: {
      trusted: 'Signed by a key that is trusted',
      unauthenticated: 'Signed, by a key that nobody here knows',
      unknown_key: 'Signed by none of the keys that are trusted',
      invalid: 'The signature does not fit',
    },
  },
} as const;
