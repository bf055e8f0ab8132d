/** The regions, and their incident mode, which admins set and lift. */
import { Badge, Button } from '@mantine/core';
import { useState } from 'react';
import { useDeployments, useRegions } from '../../../api/catalogue.ts';
import type { Region } from '../../../api/types.ts';
import { Failed } from '../../../parts/failure.tsx';
import { Go } from '../../../parts/go.tsx';
import { type Column, Empty } from '../../../parts/table.tsx';
import { number } from '../../../words/format.ts';
import { words } from '../../../words/operator-words.ts';
import { Entries, type KindProps, lastChangeColumn, warningsColumn } from './entries.tsx';
import { IncidentDeed } from './incident-deed.tsx';
import { servedAlone } from './served-alone.ts';

const statusColors = { active: 'green', degraded: 'red', saturated: 'orange', decommissioned: 'gray' } as const;

export function Regions({ mayChange }: KindProps) {
  const [chosen, setChosen] = useState<Region | null>(null);
  const regions = useRegions();
  const deployments = useDeployments();
  const deed = ({ status }: Region): string | null => {
    if (!mayChange || status === 'decommissioned') return null;
    return status === 'active' ? words.catalogue.setIncident : words.catalogue.liftIncident;
  };
  const columns: readonly Column<Region>[] = [
    { title: words.catalogue.id, cell: ({ code }) => code },
    {
      title: words.catalogue.status,
      cell: ({ status }) => (
        <Badge color={statusColors[status]} variant="light">
          {words.catalogue.statuses[status]}
        </Badge>
      ),
    },
    ...(mayChange ? [{ title: words.keys.actions, cell: actionOf(deed, setChosen) }] : []),
    { title: words.catalogue.name, cell: ({ name }) => name },
    { title: words.catalogue.country, cell: ({ country }) => country },
    { title: words.catalogue.zone, cell: ({ grid_zone }) => <Go to="/grid">{grid_zone}</Go> },
    { title: words.catalogue.preference, cell: ({ preference }) => number(preference), isNumber: true },
    lastChangeColumn,
    warningsColumn,
  ];
  return (
    <Entries
      kind="regions"
      columns={columns}
      entries={regions.data?.data}
      idOf={({ code }) => code}
      query={regions}
      empty={<Empty title={words.catalogue.regionsEmpty}>{words.catalogue.regionsEmptyHint}</Empty>}
    >
      <Failed of={deployments} />
      {chosen && (
        <IncidentDeed
          region={chosen}
          alone={servedAlone(chosen.code, regions.data?.data ?? [], deployments.data?.data ?? [])}
          onClose={() => setChosen(null)}
        />
      )}
    </Entries>
  );
}

function actionOf(deed: (region: Region) => string | null, onChoose: (region: Region) => void) {
  return (region: Region) => {
    const label = deed(region);
    return (
      label && (
        <Button
          size="compact-xs"
          variant="default"
          aria-label={`${label}: ${region.code}`}
          onClick={() => onChoose(region)}
        >
          {label}
        </Button>
      )
    );
  };
}
