/** The tier of an account; one of Enterprise has limits of its own. */
import { Alert, NativeSelect, NumberInput } from '@mantine/core';
import { useState } from 'react';
import type { OperatorAccount } from '../../../api/types.ts';
import { words } from '../../../words/operator-words.ts';
import { type FormOfAccountProps, SettingForm } from './setting-form.tsx';

type Tier = OperatorAccount['tier'];
type Limits = OperatorAccount['limits'];
/** As a field has it: empty while it is written anew. */
type Written = Readonly<Record<keyof Limits, number | string>>;

const names = ['per_s', 'burst', 'per_day', 'streams'] as const;
const tiers = Object.entries<string>(words.limits.tiers).map(([value, label]) => ({ value, label }));

export function TierForm({ account, onClose }: FormOfAccountProps) {
  const [tier, setTier] = useState<Tier>(account.tier);
  const [written, setWritten] = useState<Written>(account.limits);
  const limits = limitsIn(written, account);
  const isEnterprise = tier === 'enterprise';
  return (
    <SettingForm
      setting="tier"
      account={account}
      wanted={isEnterprise ? limits && { tier, limits } : { tier }}
      onClose={onClose}
    >
      <NativeSelect
        label={words.accounts.tier}
        value={tier}
        onChange={({ currentTarget }) => setTier(currentTarget.value as Tier)}
        data={tiers}
      />
      {isEnterprise &&
        names.map((name) => (
          <NumberInput
            key={name}
            label={words.settings.limitNames[name]}
            value={written[name]}
            onChange={(value) => setWritten({ ...written, [name]: value })}
            min={1}
            allowDecimal={false}
            thousandSeparator=" "
            required
          />
        ))}
      {account.tier === 'enterprise' && !isEnterprise && (
        <Alert color="orange">
          The limits of its own go, and so do those of its keys. Keys can no longer do what only Enterprise includes.
        </Alert>
      )}
    </SettingForm>
  );
}

/** Where nobody has changed the open streams of Enterprise they are left out: if they are the default, they stay so. */
function limitsIn({ burst, per_day, per_s, streams }: Written, { limits, tier }: OperatorAccount) {
  if (!isCount(burst) || !isCount(per_day) || !isCount(per_s) || !isCount(streams)) return null;
  const isLeft = tier === 'enterprise' && streams === limits.streams;
  return { per_s, burst, per_day, ...(!isLeft && { streams }) };
}

const isCount = (value: number | string): value is number => typeof value === 'number' && value >= 1;
