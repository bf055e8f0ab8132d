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
      title: 'Health',
      cell: (deployment) => <Findings findings={healthOf(deployment, known)} />,
    },
    { title: 'Provider', cell: ({ provider }) => provider },
    { title: 'Region', cell: ({ region }) => region },
    { title: 'Models', cell: ({ models }) => <Text size="xs">{Object.keys(models).join(', ')}</Text> },
    { title: 'PUE', cell: ({ pue }) => number(pue), isNumber: true },
    { title: 'Weight', cell: ({ weight }) => number(weight), isNumber: true },
    {
      title: 'Calls at once',
      cell: ({ max_concurrent_requests: most }) => (most === null ? 'not bounded' : number(most)),
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
      empty={
        <Empty title="No deployment">
          A deployment says which models a provider serves in a region: ./gw admin deployments add.
        </Empty>
      }
    >
      <Text size="sm">
        Health is what the calls themselves have found at this moment, read again every few seconds. A deployment that
        gets no calls has none; what Envoy’s health checks find is in Envoy’s own metrics.
      </Text>
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
