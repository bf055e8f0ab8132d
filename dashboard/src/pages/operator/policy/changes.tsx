import { Text } from '@mantine/core';
import { usePolicy } from '../../../api/operator-queries.ts';
import type { DryRun } from '../../../api/types.ts';
import { words } from '../../../words/operator-words.ts';

/** Shows what would change if the rules that were tried came into force. */
export function Changes({ tried }: { readonly tried: DryRun }) {
  const policy = usePolicy();
  const { changes, sha256 } = tried.rules;
  const said = (['added', 'removed', 'changed'] as const).flatMap((kind) =>
    changes[kind].length === 0 ? [] : sentences[kind](changes[kind].join(', ')),
  );
  const isSame = policy.data?.sha256 === sha256;
  const alike = isSame
    ? 'These are the rules that hold: there is nothing to publish.'
    : 'No rule differs, but their order does: the first one that blocks gives the code.';
  return (
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      {said.length > 0 ? said.join(' ') : alike}
    </Text>
  );
}

const sentences = { added: words.policy.adds, removed: words.policy.removes, changed: words.policy.changes };
