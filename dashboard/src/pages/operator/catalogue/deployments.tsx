/** The deployments: which models of a provider are served in which region, and how they are. */
import { Badge, Stack, Text } from '@mantine/core';
import {
  useCredentials,
  useDeploymentHealth,
  useDeployments,
  useProviders,
  useRegions,
} from '../../../api/operator-queries.ts';
import type { Deployment } from '../../../api/types.ts';
import { Failed } from '../../../parts/failure.tsx';
import { type Column, Empty } from '../../../parts/table.tsx';
import { number } from '../../../words/format.ts';
import { words } from '../../../words/operator-words.ts';
import { Entries, lastChangeColumn, warningsColumn } from './entries.tsx';
import { type Finding, healthOf } from './states.ts';

export function Deployments() {
  const deployments = useDeployments();
  const health = useDeploymentHealth();
  const known = {
    regions: useRegions().data?.data,
    providers: useProviders().data?.data,
    credentials: useCredentials().data?.data,
    // An old reading says nothing about the current health.
    health: health.isError ? undefined : health.data,
  };
  const columns: readonly Column<Deployment>[] = [
    { title: words.catalogue.id, cell: ({ id }) => id },
    {
      title: words.catalogue.health,
      cell: (deployment) => <Findings findings={healthOf(deployment, known)} />,
    },
    { title: words.catalogue.provider, cell: ({ provider }) => provider },
    { title: words.catalogue.region, cell: ({ region }) => region },
    { title: words.catalogue.models, cell: ({ models }) => <Text size="xs">{Object.keys(models).join(', ')}</Text> },
    { title: words.catalogue.pue, cell: ({ pue }) => number(pue), isNumber: true },
    {
      title: words.catalogue.mostCalls,
      cell: ({ max_concurrent_requests: most }) => (most === null ? words.catalogue.unbounded : number(most)),
      isNumber: true,
    },
    lastChangeColumn,
    warningsColumn,
  ];
  return (
    <Entries
      kind="deployments"
      columns={columns}
      entries={deployments.data?.data}
      idOf={({ id }) => id}
      query={deployments}
      empty={<Empty title={words.catalogue.deploymentsEmpty}>{words.catalogue.deploymentsEmptyHint}</Empty>}
    >
      <Text size="sm">{words.catalogue.healthHint}</Text>
      <Failed of={health} />
    </Entries>
  );
}

function Findings({ findings }: { readonly findings: readonly Finding[] }) {
  return (
    <Stack gap={4} align="flex-start">
      {findings.map(({ color, hint, label }) => (
        <div key={`${label} ${hint}`}>
          <Badge color={color} variant="light">
            {label}
          </Badge>
          {hint && (
            <Text size="xs" miw={180}>
              {hint}
            </Text>
          )}
        </div>
      ))}
    </Stack>
  );
}
