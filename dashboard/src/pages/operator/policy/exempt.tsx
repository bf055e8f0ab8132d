/** Lifts a rule for an account, and lets it hold again. */
import { NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api, must } from '../../../api/client.ts';
import { usePolicy } from '../../../api/policy.ts';
import type { Exemption } from '../../../api/types.ts';
import { AccountField } from '../../../parts/account-field.tsx';
import { Confirm } from '../../../parts/confirm.tsx';
import { words } from '../../../words/operator-words.ts';

export function Exempt({ onClose }: { readonly onClose: () => void }) {
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

export function Unexempt({ exemption, onClose }: { readonly exemption: Exemption; readonly onClose: () => void }) {
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
