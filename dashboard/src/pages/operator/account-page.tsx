/** One account: its settings, keys, people and budgets, what it used; and, for those who may, its suspension. */
import { Badge, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { api, must } from '../../api/client.ts';
import { useOperatorAccount } from '../../api/operator-account.ts';
import type { Key, OperatorAccount, OperatorSession } from '../../api/types.ts';
import { Id } from '../../parts/copy.tsx';
import { Failed } from '../../parts/failure.tsx';
import { Go } from '../../parts/go.tsx';
import { More } from '../../parts/more.tsx';
import { usePages } from '../../parts/pages.ts';
import { PageTitle } from '../../parts/shell.tsx';
import { type Column, Empty, Rows } from '../../parts/table.tsx';
import { groups } from '../../usage/series.ts';
import { UsageView } from '../../usage/usage-view.tsx';
import { words } from '../../words/operator-words.ts';
import { AccountBudgets } from './account/account-budgets.tsx';
import { Settings } from './account/settings.tsx';
import { Webhook } from './account/webhook.tsx';
import { AccountDeed, type Deed } from './account-deed.tsx';
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
    { title: words.keys.name, cell: ({ name }) => name },
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
