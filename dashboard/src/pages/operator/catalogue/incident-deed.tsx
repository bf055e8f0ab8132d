/** Sets the incident mode of a region, and lifts it again. */
import { Stack, Text } from '@mantine/core';
import { api, must } from '../../../api/client.ts';
import type { Region } from '../../../api/types.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { words } from '../../../words/operator-words.ts';

export interface IncidentDeedProps {
  readonly region: Region;
  /** The models that no other active region serves. */
  readonly alone: readonly string[];
  readonly onClose: () => void;
}

export function IncidentDeed({ region: { code, status }, alone, onClose }: IncidentDeedProps) {
  const isSet = status !== 'active';
  const body = { status: isSet ? 'active' : 'degraded' } as const;
  return (
    <Confirm
      title={isSet ? words.catalogue.liftTitle(code) : words.catalogue.setTitle(code)}
      hint={
        <Stack gap="xs">
          <Text size="sm">{isSet ? words.catalogue.liftHint : words.catalogue.setHint}</Text>
          {!isSet && alone.length > 0 && (
            <Text size="sm" fw={700}>
              {words.catalogue.setAlone(alone.join(', '))}
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
