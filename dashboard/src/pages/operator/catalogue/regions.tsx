/** The regions, and their incident mode, which admins set and lift. */
import { Badge, Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { api, must } from '../../../api/client.ts';
import { useDeployments, useRegions } from '../../../api/operator-queries.ts';
import type { Region } from '../../../api/types.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Failed } from '../../../parts/failure.tsx';
import { Go } from '../../../parts/go.tsx';
import { type Column, Empty } from '../../../parts/table.tsx';
import { number } from '../../../words/format.ts';
import { words } from '../../../words/operator-words.ts';
import { Entries, type KindProps, lastChangeColumn, warningsColumn } from './entries.tsx';
import { servedAlone } from './states.ts';

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
    { title: 'Country', cell: ({ country }) => country },
    { title: 'Grid zone', cell: ({ grid_zone }) => <Go to="/grid">{grid_zone}</Go> },
    { title: 'Preference', cell: ({ preference }) => number(preference), isNumber: true },
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
      empty={<Empty title="No region">Add the first one: ./gw admin regions add.</Empty>}
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

interface IncidentDeedProps {
  readonly region: Region;
  /** The models that no other active region serves. */
  readonly alone: readonly string[];
  readonly onClose: () => void;
}

/** Sets the incident mode of a region, and lifts it again. */
function IncidentDeed({ region: { code, status }, alone, onClose }: IncidentDeedProps) {
  const isSet = status !== 'active';
  const body = { status: isSet ? 'active' : 'degraded' } as const;
  return (
    <Confirm
      title={isSet ? `Lift incident mode for ${code}` : `Set incident mode for ${code}`}
      hint={
        <Stack gap="xs">
          <Text size="sm">
            {isSet
              ? 'The region is active again and takes new calls at once.'
              : 'New calls no longer go there: free calls go to other regions, and calls that pin this region are refused with region_degraded. Calls that are under way there go on. It takes effect at once, and within four seconds where Envoy needs new routes.'}
          </Text>
          {!isSet && alone.length > 0 && (
            <Text size="sm" fw={700}>
              {`No other active region serves ${alone.join(', ')}: each call of it will be refused.`}
            </Text>
          )}
        </Stack>
      }
      label={isSet ? words.catalogue.liftIncident : words.catalogue.setIncident}
      isDangerous={!isSet}
      send={() => must(api.PATCH('/operator/v1/regions/{id}', { params: { path: { id: code } }, body }))}
      onClose={onClose}
    />
  );
}
