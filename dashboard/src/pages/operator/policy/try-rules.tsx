/** Tries rules on texts, by the engine that screens calls, and shows what the texts would come to. */
import { Alert, Badge, Button, Code, Group, Stack, Text, Textarea, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, must } from '../../../api/client.ts';
import type { DryRun, PolicyRule } from '../../../api/types.ts';
import { AccountField } from '../../../parts/account-field.tsx';
import { Failure } from '../../../parts/failure.tsx';
import { type Column, Rows } from '../../../parts/table.tsx';
import { number } from '../../../words/format.ts';
import { words } from '../../../words/operator-words.ts';
import { Changes } from './changes.tsx';
import { samplesIn } from './parse.ts';

export interface TryRulesProps {
  /** `undefined`: those that hold. */
  readonly rules: PolicyRule[] | undefined;
  readonly isReady: boolean;
}

interface DryRunRequest {
  readonly rules?: PolicyRule[];
  readonly account_id?: string;
  readonly samples: { readonly name: string; readonly text: string }[];
}

export function TryRules({ rules, isReady }: TryRulesProps) {
  const [samples, setSamples] = useState('');
  const [account, setAccount] = useState('');
  const run = useMutation({
    mutationFn: (body: DryRunRequest) => must(api.POST('/operator/v1/policy/dry-run', { body })),
  });
  const asked: DryRunRequest = {
    ...(rules && { rules }),
    ...(account.trim() !== '' && { account_id: account.trim() }),
    samples: samplesIn(samples).map((text) => ({ name: beginning(text), text })),
  };
  // A result for other rules or texts says nothing about these.
  const isOfThese = JSON.stringify(run.variables) === JSON.stringify(asked);
  return (
    <Stack>
      <Title order={2} size="h4">
        {words.policy.try}
      </Title>
      <Text size="sm">
        What requests with these texts would come to, by the engine that screens calls. The texts are neither stored nor
        logged.
      </Text>
      <Textarea
        label="Texts to try, with an empty line between two"
        rows={5}
        value={samples}
        onChange={({ currentTarget }) => setSamples(currentTarget.value)}
      />
      <AccountField
        label="Account whose exemptions apply"
        description="Empty: none do"
        value={account}
        onChange={setAccount}
      />
      <Failure error={run.error} />
      <Group>
        <Button variant="default" disabled={!isReady} loading={run.isPending} onClick={() => run.mutate(asked)}>
          Try the rules
        </Button>
      </Group>
      {run.data && isOfThese && !run.isPending && <Result tried={run.data} />}
    </Stack>
  );
}

/** Enough of a text to know it by. */
const beginning = (text: string): string => {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ');
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
};

type Sample = DryRun['samples'][number];
const outcomeColors = { pass: 'green', flag: 'orange', block: 'red' } as const;
const columns: readonly Column<Sample & { readonly at: number }>[] = [
  { title: 'Text', cell: ({ name }) => <Text size="sm">{name}</Text> },
  {
    title: 'Outcome',
    cell: ({ outcome }) => (
      <Badge color={outcomeColors[outcome]} variant="light">
        {words.policy.outcomes[outcome]}
      </Badge>
    ),
  },
  { title: words.policy.code, cell: ({ code }) => (code === null ? words.none : <Code>{code}</Code>) },
  {
    title: words.policy.byRules,
    cell: ({ matches }) =>
      matches.length === 0
        ? words.none
        : matches.map(({ exempt, rule }) => (exempt ? `${rule} (lifted for the account)` : rule)).join(', '),
  },
];

function Result({ tried }: { readonly tried: DryRun }) {
  return (
    <>
      <Alert color="green" title={`The rules can be compiled: ${number(tried.rules.rule_count)} in all`} role="status">
        <Changes tried={tried} />
      </Alert>
      <Rows
        caption={words.policy.try}
        columns={columns}
        rows={tried.samples.map((sample, at) => ({ ...sample, at }))}
        idOf={({ at }) => String(at)}
        empty={null}
      />
    </>
  );
}
