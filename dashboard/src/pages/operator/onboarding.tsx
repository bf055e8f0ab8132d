/** Customers on their way to a key, and whom each one waits for. */
import { Badge, NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { api, must } from '../../api/client.ts';
import type { Application } from '../../api/types.ts';
import { At } from '../../parts/at.tsx';
import { Go } from '../../parts/go.tsx';
import { More, usePages } from '../../parts/pages.tsx';
import { PageTitle } from '../../parts/shell.tsx';
import { type Column, Empty, Rows } from '../../parts/table.tsx';
import { words } from '../../words/operator-words.ts';
import { decisionsIn } from './decisions.ts';

type Stage = Application['stage'];

export function StageBadge({ stage }: { readonly stage: Stage }) {
  const color = decisionsIn(stage).length > 0 ? 'orange' : stage === 'complete' ? 'green' : 'gray';
  return (
    <Badge color={color} variant="light">
      {words.onboarding.stages[stage]}
    </Badge>
  );
}

const columns: readonly Column<Application>[] = [
  { title: words.accounts.name, cell: ({ account_id, name }) => <Go to={`/onboarding/${account_id}`}>{name}</Go> },
  { title: words.accounts.tier, cell: ({ tier }) => words.limits.tiers[tier] },
  { title: words.onboarding.stage, cell: ({ stage }) => <StageBadge stage={stage} /> },
  { title: 'Since', cell: ({ updated_at }) => <At time={updated_at} /> },
  { title: 'Expires', cell: ({ expires_at }) => <At time={expires_at} /> },
];

export function Onboarding() {
  const [stage, setStage] = useState<Stage | ''>('');
  const applications = usePages(['applications', stage], (after) =>
    must(
      api.GET('/operator/v1/applications', {
        params: { query: { limit: 50, ...(stage && { stage }), ...(after && { after }) } },
      }),
    ),
  );
  return (
    <>
      <PageTitle>{words.pages.onboarding}</PageTitle>
      <NativeSelect
        mb="md"
        maw={280}
        label={words.onboarding.stage}
        value={stage}
        onChange={({ currentTarget }) => setStage(currentTarget.value as Stage | '')}
        data={[
          { value: '', label: words.all },
          ...Object.entries(words.onboarding.stages).map(([value, label]) => ({ value, label })),
        ]}
      />
      <Rows
        caption={words.pages.onboarding}
        columns={columns}
        rows={applications.rows}
        idOf={({ account_id }) => account_id}
        query={applications}
        empty={<Empty title="No application">Take one in with ./gw admin onboarding.</Empty>}
      />
      <More {...applications} />
    </>
  );
}
