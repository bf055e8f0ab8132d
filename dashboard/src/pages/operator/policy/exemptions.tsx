/** Rules that are lifted for single accounts. */
import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { api, must } from '../../../api/client.ts';
import { useMaker, useOperatorAccount, usePolicy } from '../../../api/operator-queries.ts';
import type { Exemption } from '../../../api/types.ts';
import { AccountField } from '../../../parts/account-field.tsx';
import { At } from '../../../parts/at.tsx';
import { Confirm } from '../../../parts/confirm.tsx';
import { Failed } from '../../../parts/failure.tsx';
import { Go } from '../../../parts/go.tsx';
import { More, usePages } from '../../../parts/pages.tsx';
import { type Column, Empty, Rows } from '../../../parts/table.tsx';
import { words } from '../../../words/operator-words.ts';

export function Exemptions({ mayChange }: { readonly mayChange: boolean }) {
  const [account, setAccount] = useState('');
  const [isAdding, setIsAdding] = useState(false);
  const [ended, setEnded] = useState<Exemption | null>(null);
  const exemptions = usePages(['exemptions', account], (after) =>
    must(
      api.GET('/operator/v1/policy/exemptions', {
        params: { query: { limit: 100, ...(account !== '' && { account_id: account }), ...(after && { after }) } },
      }),
    ),
  );
  const columns = useColumns(mayChange ? setEnded : null);
  const ofAccount = useOperatorAccount(account);
  return (
    <Stack>
      <Group align="end" justify="space-between">
        <Filter onChange={setAccount} />
        {mayChange && <Button onClick={() => setIsAdding(true)}>{words.policy.exemption}</Button>}
      </Group>
      {ofAccount.error ? (
        <Failed of={ofAccount} />
      ) : (
        <Rows
          caption={words.policy.views.exemptions}
          columns={columns}
          rows={exemptions.rows}
          idOf={({ account_id, rule_id }) => `${account_id}/${rule_id}`}
          query={exemptions}
          empty={
            <Empty title="No rule is lifted">
              Every rule holds for every account. An admin can lift one for a single account.
            </Empty>
          }
        />
      )}
      <More {...exemptions} />
      {isAdding && <Exempt onClose={() => setIsAdding(false)} />}
      {ended && <Unexempt exemption={ended} onClose={() => setEnded(null)} />}
    </Stack>
  );
}

function useColumns(onEnd: ((exemption: Exemption) => void) | null): readonly Column<Exemption>[] {
  const policy = usePolicy();
  const maker = useMaker();
  const isThere = (id: string) => policy.data === undefined || policy.data.rules.some((rule) => rule.id === id);
  const end = (exemption: Exemption) => (
    <Button
      size="compact-xs"
      variant="default"
      aria-label={words.policy.unexemptTitle(exemption.rule_id, exemption.account_id)}
      onClick={() => onEnd?.(exemption)}
    >
      {words.policy.unexempt}
    </Button>
  );
  return [
    {
      title: words.policy.exemptionOf,
      cell: ({ account_id }) => <Go to={`/accounts/${account_id}`}>{account_id}</Go>,
    },
    {
      title: words.policy.rule,
      cell: ({ rule_id }) => (isThere(rule_id) ? rule_id : `${rule_id} ($no rule has this id now)`),
    },
    { title: words.policy.reason, cell: ({ reason }) => reason },
    { title: 'Since', cell: ({ created_at }) => <At time={created_at} /> },
    { title: words.policy.who, cell: ({ created_by }) => maker(created_by) },
    ...(onEnd ? [{ title: words.keys.actions, cell: end }] : []),
  ];
}

function Filter({ onChange }: { readonly onChange: (account: string) => void }) {
  const [account, setAccount] = useState('');
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onChange(account.trim());
  };
  return (
    <form onSubmit={submit}>
      <Group align="end">
        <AccountField label={words.policy.exemptionOf} value={account} onChange={setAccount} />
        <Button type="submit" variant="default">
          {words.policy.find}
        </Button>
      </Group>
    </form>
  );
}

/** Lifts a rule for an account, and lets it hold again. */
function Exempt({ onClose }: { readonly onClose: () => void }) {
  const [account, setAccount] = useState('');
  const [chosen, setChosen] = useState('');
  const [reason, setReason] = useState('');
  const policy = usePolicy();
  const rules = policy.data?.rules.map(({ id }) => id) ?? [];
  const rule = chosen || (rules[0] ?? '');
  const body = { account_id: account.trim(), rule_id: rule, reason: reason.trim() };
  return (
    <Confirm
      title={words.policy.exemption}
      hint={
        <Stack>
          <Text size="sm">
            The rule no longer holds for this account, within about a second. Its people can read the reason.
          </Text>
          <AccountField label={words.policy.exemptionOf} value={account} onChange={setAccount} required />
          <NativeSelect
            label={words.policy.rule}
            value={rule}
            onChange={({ currentTarget }) => setChosen(currentTarget.value)}
            data={rules}
          />
          <TextInput
            label={words.policy.reason}
            value={reason}
            onChange={({ currentTarget }) => setReason(currentTarget.value)}
            required
          />
        </Stack>
      }
      label={words.policy.exemption}
      isReady={Object.values(body).every((text) => text !== '')}
      isDangerous
      error={policy.error}
      send={() => must(api.POST('/operator/v1/policy/exemptions', { body }))}
      onClose={onClose}
    />
  );
}

function Unexempt({ exemption, onClose }: { readonly exemption: Exemption; readonly onClose: () => void }) {
  const { account_id: accountId, rule_id: rule } = exemption;
  const params = { path: { accountId, rule } };
  return (
    <Confirm
      title={words.policy.unexemptTitle(rule, accountId)}
      hint="Its calls are screened by the rule again, within about a second."
      label={words.policy.unexempt}
      isDangerous
      send={() => must(api.DELETE('/operator/v1/policy/exemptions/{accountId}/{rule}', { params }))}
      onClose={onClose}
    />
  );
}
