/** One account: its settings, keys, people and budgets, what it used; and, for those who may, its suspension. */
import { Badge, Button, Checkbox, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { useState } from 'react';
import { api, must } from '../../api/client.ts';
import { useOperatorAccount } from '../../api/operator-queries.ts';
import type { Key, OperatorAccount, OperatorSession } from '../../api/types.ts';
import { BudgetList } from '../../budgets/budget-list.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Id } from '../../parts/copy.tsx';
import { Failed } from '../../parts/failure.tsx';
import { Go } from '../../parts/go.tsx';
import { KeyName } from '../../parts/key-name.tsx';
import { More, usePages } from '../../parts/pages.tsx';
import { PageTitle } from '../../parts/shell.tsx';
import { type Column, Empty, Rows } from '../../parts/table.tsx';
import { groups } from '../../usage/series.ts';
import { UsageView } from '../../usage/usage-view.tsx';
import { words } from '../../words/operator-words.ts';
import { Issuer } from './account/issuer.tsx';
import { Settings } from './account/settings.tsx';
import { Webhook } from './account/webhook.tsx';
import { stateColors } from './accounts.tsx';
import { People } from './people.tsx';

export interface AccountPageProps {
  readonly id: string;
  readonly role: OperatorSession['role'];
}

export function AccountPage({ id, role }: AccountPageProps) {
  const [deed, setDeed] = useState<Deed | null>(null);
  const account = useOperatorAccount(id);
  if (account.data === undefined) return <Failed of={account} />;
  return (
    <Stack>
      <Failed of={account} />
      <Go to="/accounts">All accounts</Go>
      <PageTitle actions={<Deeds account={account.data} role={role} onChoose={setDeed} />}>
        {account.data.name}
      </PageTitle>
      <Facts account={account.data} />
      <Settings account={account.data} isAdmin={role === 'admin'} />
      <Keys id={id} mayRevoke={role !== 'viewer'} onRevoke={(key) => setDeed({ kind: 'revoke', key })} />
      <People accountId={id} mayAdd={role === 'admin'} />
      <Issuer accountId={id} mayChange={role === 'admin'} />
      <AccountBudgets accountId={id} mayChange={role === 'admin'} />
      {role === 'admin' && <Webhook accountId={id} />}
      <Title order={2} size="h4">
        Usage
      </Title>
      <UsageView
        name={`of ${id}`}
        groups={groups}
        read={(query) => must(api.GET('/operator/v1/usage', { params: { query: { ...query, account_id: id } } }))}
        csvPath={`/operator/v1/usage?account_id=${encodeURIComponent(id)}&`}
        empty={<Text>{words.fleet.empty}</Text>}
      />
      {deed && <AccountDeed accountId={id} deed={deed} onClose={() => setDeed(null)} />}
    </Stack>
  );
}

interface DeedsProps {
  readonly account: OperatorAccount;
  readonly role: OperatorSession['role'];
  readonly onChoose: (deed: Deed) => void;
}

/** Support may stop an account; that the danger is over, an admin decides. */
function Deeds({ account, role, onChoose }: DeedsProps) {
  if (account.state === 'active' && role !== 'viewer')
    return (
      <Button color="red" onClick={() => onChoose({ kind: 'suspend' })}>
        {words.accounts.suspend}
      </Button>
    );
  if (account.state === 'suspended' && role === 'admin')
    return <Button onClick={() => onChoose({ kind: 'reinstate' })}>{words.accounts.reinstate}</Button>;
  return null;
}

function Facts({ account: { id, state } }: { readonly account: OperatorAccount }) {
  return (
    <Group gap="xs">
      <Id id={id} />
      <Badge color={stateColors[state]} variant="light">
        {words.accounts.states[state]}
      </Badge>
    </Group>
  );
}

interface KeysProps {
  readonly id: string;
  readonly mayRevoke: boolean;
  readonly onRevoke: (key: Key) => void;
}

function Keys({ id, mayRevoke, onRevoke }: KeysProps) {
  const keys = usePages(['keys of', id], (after) =>
    must(
      api.GET('/operator/v1/accounts/{accountId}/keys', {
        params: { path: { accountId: id }, query: { limit: 100, ...(after && { after }) } },
      }),
    ),
  );
  const columns: Column<Key>[] = [
    { title: words.keys.name, cell: (key) => <KeyName of={key} /> },
    { title: words.accounts.id, cell: (key) => <Id id={key.id} /> },
    { title: words.keys.state, cell: ({ state }) => words.keys[state] },
    { title: words.keys.lastUsed, cell: ({ last_used_on }) => last_used_on ?? words.keys.never },
    {
      title: words.keys.actions,
      cell: (key) =>
        mayRevoke &&
        key.state === 'active' && (
          <Button size="compact-xs" variant="default" onClick={() => onRevoke(key)}>
            {words.keys.revoke}
          </Button>
        ),
    },
  ];
  return (
    <>
      <Title order={2} size="h4">
        {words.pages.keys}
      </Title>
      <Rows
        caption={words.pages.keys}
        columns={columns}
        rows={keys.rows}
        idOf={(key) => key.id}
        query={keys}
        empty={<Empty title={words.keys.empty} />}
      />
      <More {...keys} />
    </>
  );
}

type Deed =
  | { readonly kind: 'suspend' | 'reinstate' }
  /** Needs no reason. */
  | { readonly kind: 'revoke'; readonly key: Key };

interface AccountDeedProps {
  readonly accountId: string;
  readonly deed: Deed;
  readonly onClose: () => void;
}

/** Suspends or reinstates an account, or revokes a key. The audit log keeps the reason. */
function AccountDeed({ accountId, deed, onClose }: AccountDeedProps) {
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

/** The budgets of an account, as operators see and set them. */
function AccountBudgets({ accountId, mayChange }: { readonly accountId: string; readonly mayChange: boolean }) {
  const path = '/operator/v1/accounts/{accountId}/budgets';
  const params = { path: { accountId } };
  return (
    <BudgetList
      place={{
        queryKey: ['budgets of', accountId],
        scopes: mayChange ? ['account', 'project', 'key'] : [],
        mayRemove: () => mayChange,
        list: () => must(api.GET(path, { params })),
        set: (body, headers) => must(api.POST(path, { params, body, headers })),
        remove: (id) =>
          must(api.DELETE('/operator/v1/accounts/{accountId}/budgets/{id}', { params: { path: { accountId, id } } })),
      }}
    />
  );
}
