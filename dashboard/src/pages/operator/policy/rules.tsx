/** The rules of the version that holds: what each matches, and what it does then. */
import { Badge, Code, Spoiler, Stack, Text } from '@mantine/core';
import { useMaker, usePolicy } from '../../../api/operator-queries.ts';
import type { PolicyRule, StoredRule } from '../../../api/types.ts';
import { Copyable } from '../../../parts/copy.tsx';
import { type Column, Empty, Rows } from '../../../parts/table.tsx';
import { number, time } from '../../../words/format.ts';
import { words } from '../../../words/operator-words.ts';
import { ruleOf } from './parse.ts';

const columns: readonly Column<StoredRule>[] = [
  { title: words.policy.rule, cell: (stored) => <Name stored={stored} /> },
  { title: 'What it does', cell: (stored) => <Does rule={ruleOf(stored)} /> },
  { title: 'What it matches', cell: (stored) => <Matches stored={stored} /> },
];

export function Rules() {
  const policy = usePolicy();
  const maker = useMaker();
  return (
    <Stack>
      {policy.data && (
        <>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            <Text span fw={700}>
              {`Version ${policy.data.version} holds`}
            </Text>
            {'. '}
            {`Published by ${maker(policy.data.created_by)} at ${time(policy.data.created_at)} (UTC).`}{' '}
            {policy.data.note}
          </Text>
          <Copyable label={words.policy.hash} text={policy.data.sha256} />
        </>
      )}
      <Rows
        caption={words.policy.views.rules}
        columns={columns}
        rows={policy.data?.rules}
        idOf={({ id }) => id}
        query={policy}
        empty={
          <Empty title={words.policy.noRules}>
            The set that holds has no rules. Write some under Draft, and publish them.
          </Empty>
        }
      />
    </Stack>
  );
}

function Name({ stored }: { readonly stored: StoredRule }) {
  const rule = ruleOf(stored);
  return (
    <Stack gap={2} miw={180}>
      {rule && <Text size="sm">{rule.title}</Text>}
      <Text size="xs">
        <Code>{stored.id}</Code>
      </Text>
      {rule && (
        <Text size="xs" c="dimmed">
          {words.policy.screens[rule.screen]}
        </Text>
      )}
    </Stack>
  );
}

const actionColors = { block: 'red', flag: 'orange' } as const;

function Does({ rule }: { readonly rule: PolicyRule | null }) {
  if (rule === null) return words.unknown;
  return (
    <Badge color={rule.enabled ? actionColors[rule.action] : 'gray'} variant="light">
      {rule.enabled ? words.policy.actions[rule.action] : 'off: matches nothing'}
    </Badge>
  );
}

/** A rule can have hundreds of phrases. */
function Matches({ stored }: { readonly stored: StoredRule }) {
  const rule = ruleOf(stored);
  return (
    <Spoiler maxHeight={96} showLabel="Show all of it" hideLabel="Show less" miw={320}>
      {rule === null ? (
        <Part title="This release cannot read the rule, and does not screen by it:" texts={[JSON.stringify(stored)]} />
      ) : rule.kind === 'pattern' ? (
        <>
          <Part title="The pattern (RE2), over small letters:" texts={[rule.pattern]} />
          <Part title="It is tried only on texts that hold one of:" texts={rule.needs} />
        </>
      ) : rule.kind === 'classifier' ? (
        <>
          <Part title="What the classifier calls:" texts={rule.categories ?? ['flagged']} />
          <Part title="From this score on:" texts={rule.threshold === undefined ? [] : [String(rule.threshold)]} />
          <Part
            title="Without an answer in time the call is:"
            texts={[rule.on_failure === 'pass' ? 'let in' : 'blocked']}
          />
        </>
      ) : (
        <>
          <Part title={`${number(rule.phrases.length)} phrases, each as whole words:`} texts={rule.phrases} />
          <Part title="It is ignored where its sentence goes on as:" texts={rule.unless} />
          <Part title="It counts only at the end of a sentence, or before:" texts={rule.before} />
        </>
      )}
    </Spoiler>
  );
}

function Part({ title, texts = [] }: { readonly title: string; readonly texts?: readonly string[] | undefined }) {
  if (texts.length === 0) return null;
  return (
    <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
      {title} <Code>{texts.join('; ')}</Code>
    </Text>
  );
}
