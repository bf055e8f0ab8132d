/** The windows that issue, rotate, revoke and restore a key. A new key is shown there, once. */
import { Button, Checkbox, Modal, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, must } from '../../../api/client.ts';
import { useAccount } from '../../../api/session.ts';
import type { Account, Key } from '../../../api/types.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Failed, Failure } from '../../../parts/failure.tsx';
import { ShownOnce } from '../../../parts/shown-once.tsx';
import { useOnce } from '../../../parts/use-once.ts';
import { words } from '../../../words/words.ts';

export type Deed = { readonly kind: 'issue' } | { readonly kind: 'rotate' | 'revoke' | 'restore'; readonly key: Key };

export interface KeyDeedProps {
  readonly deed: Deed;
  readonly onClose: () => void;
}

export function KeyDeed({ deed, onClose }: KeyDeedProps) {
  switch (deed.kind) {
    case 'issue':
      return <Issue onClose={onClose} />;
    case 'rotate':
      return <Rotate of={deed.key} onClose={onClose} />;
    case 'revoke':
    case 'restore':
      return <Change kind={deed.kind} of={deed.key} onClose={onClose} />;
  }
}

type WindowProps = Pick<KeyDeedProps, 'onClose'>;

function Issue({ onClose }: WindowProps) {
  const queries = useQueryClient();
  const once = useOnce();
  const issue = useMutation({
    mutationFn: (body: WantedKey) =>
      once(body, (headers) => must(api.POST('/organisation/v1/keys', { body, headers }))),
    // Not waited for: a new key is shown at once.
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['keys'] }),
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

function Rotate({ of: key, onClose }: WindowProps & { readonly of: Key }) {
  const [made, setMade] = useState<string | null>(null);
  const once = useOnce();
  const rotate = () =>
    once(key.id, async (headers) => {
      const params = { path: { id: key.id } };
      const next = await must(api.POST('/organisation/v1/keys/{id}/rotate', { params, body: {}, headers }));
      setMade(next.key);
    });
  if (made !== null)
    return <Secret value={made} hint="Revoke the predecessor when nothing calls with it any more." onClose={onClose} />;
  return (
    <Confirm
      title={`Rotate ${key.name}`}
      hint="A successor with the same rights is issued. Both work until you revoke the old one, so move your traffic first."
      label={words.keys.rotate}
      send={rotate}
      onDone={() => undefined}
      onClose={onClose}
    />
  );
}

interface ChangeProps extends WindowProps {
  readonly kind: 'revoke' | 'restore';
  readonly of: Key;
}

function Change({ kind, of: key, onClose }: ChangeProps) {
  const isRevocation = kind === 'revoke';
  const options = { params: { path: { id: key.id } } };
  return (
    <Confirm
      title={isRevocation ? words.keys.revokeTitle(key.name) : `Restore ${key.name}`}
      hint={isRevocation ? words.keys.revokeHint : 'Calls with it work again within a second.'}
      label={words.keys[kind]}
      isDangerous={isRevocation}
      send={() =>
        isRevocation
          ? must(api.POST('/organisation/v1/keys/{id}/revoke', options))
          : must(api.POST('/organisation/v1/keys/{id}/restore', options))
      }
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
    done="I have stored it"
    onClose={onClose}
  />
);

type Scope = Account['scopes'][number];

interface WantedKey {
  readonly name: string;
  readonly project: string | null;
  readonly scopes: Scope[];
  readonly expires_at: string | null;
}

interface IssueFormProps {
  readonly onSubmit: (key: WantedKey) => void;
  readonly isRunning: boolean;
  readonly error: Error | null;
}

const usual: readonly Scope[] = ['inference:read', 'inference:write', 'gw:read'];

function IssueForm({ onSubmit, isRunning, error }: IssueFormProps) {
  const account = useAccount();
  const [chosen, setChosen] = useState<readonly string[]>(usual);
  // Keys of the tier Audit never expire.
  const mayExpire = account.data !== undefined && account.data.tier !== 'audit';
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string): string => String(form.get(name) ?? '').trim();
    onSubmit({
      name: text('name'),
      project: text('project') || null,
      scopes: (account.data?.scopes ?? usual).filter((scope) => chosen.includes(scope)),
      expires_at: text('expires') ? `${text('expires')}T00:00:00Z` : null,
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          name="name"
          label={words.keys.name}
          description="For people: where the key is used"
          maxLength={100}
          required
          data-autofocus
        />
        <TextInput
          name="project"
          label={words.keys.project}
          description="What its calls are charged to, whatever they name themselves"
          maxLength={64}
        />
        <Failed of={account} />
        <Checkbox.Group label={words.keys.scopes} value={[...chosen]} onChange={setChosen}>
          <Stack gap={4} mt={4}>
            {(account.data?.scopes ?? []).map((scope) => (
              <Checkbox key={scope} value={scope} label={words.keys.scopeHints[scope]} />
            ))}
          </Stack>
        </Checkbox.Group>
        {mayExpire && <TextInput name="expires" type="date" label="Expires (UTC day)" description="Empty: never" />}
        <Failure error={error} />
        <Button type="submit" loading={isRunning} disabled={chosen.length === 0}>
          {words.keys.issue}
        </Button>
      </Stack>
    </form>
  );
}
