/** Suspends or reinstates an account, or revokes a key. The audit log keeps the reason. */
import { Checkbox, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api, must } from '../../api/client.ts';
import type { Key } from '../../api/types.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { words } from '../../words/operator-words.ts';

export type Deed =
  | { readonly kind: 'suspend' | 'reinstate' }
  /** Needs no reason. */
  | { readonly kind: 'revoke'; readonly key: Key };

export interface AccountDeedProps {
  readonly accountId: string;
  readonly deed: Deed;
  readonly onClose: () => void;
}

export function AccountDeed({ accountId, deed, onClose }: AccountDeedProps) {
  const [reason, setReason] = useState('');
  const [acceptsMatch, setAcceptsMatch] = useState(false);
  const { title, hint, label } = wordsOf(deed);
  return (
    <Confirm
      title={title}
      hint={
        <Stack>
          <Text size="sm">{hint}</Text>
          {deed.kind !== 'revoke' && (
            <TextInput
              label="Reason, which the audit log keeps"
              value={reason}
              onChange={({ currentTarget }) => setReason(currentTarget.value)}
              required
              data-autofocus
            />
          )}
          {deed.kind === 'reinstate' && (
            <Checkbox
              label="Although a screening of the name found something, or is not done: I have looked at it under Onboarding"
              checked={acceptsMatch}
              onChange={({ currentTarget }) => setAcceptsMatch(currentTarget.checked)}
            />
          )}
        </Stack>
      }
      label={label}
      isReady={deed.kind === 'revoke' || reason.trim() !== ''}
      isDangerous={deed.kind !== 'reinstate'}
      send={() => send(accountId, deed, { reason, accepts_match: acceptsMatch })}
      onClose={onClose}
    />
  );
}

interface Answer {
  readonly reason: string;
  /** Goes on although a screening of the name waits for a decision. */
  readonly accepts_match: boolean;
}

async function send(accountId: string, deed: Deed, answer: Answer): Promise<void> {
  const path = { accountId };
  switch (deed.kind) {
    case 'suspend':
      await must(
        api.POST('/operator/v1/accounts/{accountId}/suspend', { params: { path }, body: { reason: answer.reason } }),
      );
      return;
    case 'reinstate':
      await must(api.POST('/operator/v1/accounts/{accountId}/reinstate', { params: { path }, body: answer }));
      return;
    case 'revoke': {
      const params = { path: { ...path, id: deed.key.id } };
      await must(api.POST('/operator/v1/accounts/{accountId}/keys/{id}/revoke', { params }));
    }
  }
}

function wordsOf(deed: Deed): { readonly title: string; readonly hint: string; readonly label: string } {
  switch (deed.kind) {
    case 'suspend':
      return {
        title: words.accounts.suspend,
        hint: 'Its inference is refused within a second, and it gets no new keys. It can still read and revoke keys, and an admin can reinstate it.',
        label: words.accounts.suspend,
      };
    case 'reinstate':
      return {
        title: words.accounts.reinstate,
        hint: 'Its inference is taken again within a second.',
        label: words.accounts.reinstate,
      };
    case 'revoke':
      return { title: words.keys.revokeTitle(deed.key.name), hint: words.keys.revokeHint, label: words.keys.revoke };
  }
}
