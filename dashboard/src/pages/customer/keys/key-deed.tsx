/** What can be done with a key, asked for in a window: the new key is shown there, once. */
import { Modal } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, must } from '../../../api/client.ts';
import type { Key } from '../../../api/types.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { ShownOnce } from '../../../parts/shown-once.tsx';
import { useOnce } from '../../../parts/use-once.ts';
import { words } from '../../../words/words.ts';
import { IssueForm, type WantedKey } from './issue-form.tsx';

export type Deed = { readonly kind: 'issue' } | { readonly kind: 'rotate' | 'revoke' | 'restore'; readonly key: Key };

export interface KeyDeedProps {
  readonly deed: Deed;
  readonly onClose: () => void;
}

export function KeyDeed({ deed, onClose }: KeyDeedProps) {
  const queries = useQueryClient();
  // Not waited for: a new key is shown at once.
  const onSuccess = () => void queries.invalidateQueries({ queryKey: ['keys'] });
  switch (deed.kind) {
    case 'issue':
      return <Issue onDone={onSuccess} onClose={onClose} />;
    case 'rotate':
      return <Rotate of={deed.key} onDone={onSuccess} onClose={onClose} />;
    case 'revoke':
    case 'restore':
      return <Change kind={deed.kind} of={deed.key} onDone={onSuccess} onClose={onClose} />;
  }
}

interface DoneProps {
  readonly onDone: () => unknown;
  readonly onClose: () => void;
}

function Issue({ onDone, onClose }: DoneProps) {
  const once = useOnce();
  const issue = useMutation({
    mutationFn: (body: WantedKey) =>
      once(body, (headers) => must(api.POST('/organisation/v1/keys', { body, headers }))),
    onSuccess: onDone,
  });
  if (issue.data) return <Secret value={issue.data.key} onClose={onClose} />;
  return (
    <Modal
      opened
      onClose={() => !issue.isPending && onClose()}
      title={words.keys.issue}
      closeButtonProps={{ 'aria-label': words.close }}
    >
      <IssueForm onSubmit={issue.mutate} isRunning={issue.isPending} error={issue.error} />
    </Modal>
  );
}

function Rotate({ of: key, onDone, onClose }: DoneProps & { readonly of: Key }) {
  const once = useOnce();
  const rotate = useMutation({
    mutationFn: () =>
      once(key.id, (headers) => {
        const params = { path: { id: key.id } };
        return must(api.POST('/organisation/v1/keys/{id}/rotate', { params, body: {}, headers }));
      }),
    onSuccess: onDone,
  });
  if (rotate.data) return <Secret value={rotate.data.key} hint={words.keys.overlapHint} onClose={onClose} />;
  return (
    <Confirm
      opened
      title={words.keys.rotateTitle(key.name)}
      hint={words.keys.rotateHint}
      label={words.keys.rotate}
      isRunning={rotate.isPending}
      error={rotate.error}
      onConfirm={() => rotate.mutate()}
      onClose={onClose}
    />
  );
}

function Change({
  kind,
  of: key,
  onDone,
  onClose,
}: DoneProps & { readonly kind: 'revoke' | 'restore'; readonly of: Key }) {
  const change = useMutation({
    mutationFn: () => {
      const options = { params: { path: { id: key.id } } };
      return kind === 'revoke'
        ? must(api.POST('/organisation/v1/keys/{id}/revoke', options))
        : must(api.POST('/organisation/v1/keys/{id}/restore', options));
    },
    onSuccess: () => {
      onClose();
      return onDone();
    },
  });
  const isRevocation = kind === 'revoke';
  return (
    <Confirm
      opened
      title={isRevocation ? words.keys.revokeTitle(key.name) : words.keys.restoreTitle(key.name)}
      hint={isRevocation ? words.keys.revokeHint : words.keys.restoreHint}
      label={words.keys[kind]}
      isDangerous={isRevocation}
      isRunning={change.isPending}
      error={change.error}
      onConfirm={() => change.mutate()}
      onClose={onClose}
    />
  );
}

interface SecretProps {
  readonly value: string;
  readonly hint?: string;
  readonly onClose: () => void;
}

const Secret = ({ value, hint = '', onClose }: SecretProps) => (
  <ShownOnce
    title={words.keys.secretTitle}
    hint={`${words.keys.secretOnce} ${hint}`}
    label={words.keys.secretTitle}
    text={value}
    done={words.keys.secretDone}
    onClose={onClose}
  />
);
