import { Badge } from '@mantine/core';
import type { Receipt } from '../../../api/types.ts';
import { words } from '../../../words/words.ts';

const shown = {
  telemetry: { color: 'green', word: words.usage.measured },
  parametric: { color: 'blue', word: words.usage.modelled },
  proxy: { color: 'orange', word: words.usage.estimated },
  degraded: { color: 'gray', word: words.usage.degraded },
} as const;

/** How well the energy of a call is known. */
export function TierBadge({ tier }: Pick<Receipt, 'tier'>) {
  const { color, word } = shown[tier];
  return (
    <Badge color={color} variant="light">
      {word}
    </Badge>
  );
}
