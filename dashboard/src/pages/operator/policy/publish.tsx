/** Asks before a set of rules comes into force, and says what it changes. */
import { Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, must } from '../../../api/client.ts';
import type { PolicyRule } from '../../../api/types.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { useOnce } from '../../../parts/use-once.ts';
import { words } from '../../../words/operator-words.ts';
import { Changes } from './changes.tsx';

export interface PublishProps {
  readonly title: string;
  /** The rules, or the version that they are of. */
  readonly set: { readonly rules: PolicyRule[] } | { readonly version: number };
  /** If another version holds meanwhile, the gateway refuses, and nobody's change is lost. */
  readonly basedOn: number;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function Publish({ title, set, basedOn, onDone, onClose }: PublishProps) {
  const [note, setNote] = useState('');
  // The one that the person has seen, whatever holds by the time of the click.
  const [base] = useState(basedOn);
  const once = useOnce();
  const check = useQuery({
    queryKey: ['policy', 'check', set],
    queryFn: () => must(api.POST('/operator/v1/policy/dry-run', { body: { ...set, samples: [] } })),
    // Another version may hold when it is asked for again.
    gcTime: 0,
  });
  const body = { ...set, based_on: base, note: note.trim() };
  return (
    <Confirm
      title={title}
      hint={
        <Stack>
          <Text size="sm">All calls are screened by these rules within about a second, on every gateway.</Text>
          {check.data && <Changes tried={check.data} />}
          <TextInput
            label="Note, which stands with the version and in the audit log"
            value={note}
            onChange={({ currentTarget }) => setNote(currentTarget.value)}
            required
            data-autofocus
          />
        </Stack>
      }
      label={words.policy.publish}
      isReady={check.data !== undefined && note.trim() !== ''}
      isDangerous
      error={check.error}
      send={() => once(body, (headers) => must(api.POST('/operator/v1/policy/versions', { body, headers })))}
      onDone={() => {
        onDone();
        onClose();
      }}
      onClose={onClose}
    />
  );
}
