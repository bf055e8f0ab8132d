/** An account's settings. An admin changes each of them in its own form. */
import { Button, Title } from '@mantine/core';
import { useState } from 'react';
import type { OperatorAccount } from '../../../api/types.ts';
import { type Column, Rows } from '../../../parts/table.tsx';
import { number } from '../../../words/format.ts';
import { words } from '../../../words/operator-words.ts';
import { ModelsForm } from './models-form.tsx';
import { ShadowForm } from './shadow-form.tsx';
import { TierForm } from './tier-form.tsx';
import { ToleranceForm } from './tolerance-form.tsx';

type Setting = keyof typeof words.settings.names;
const settings = Object.keys(words.settings.names) as Setting[];
const forms = { tier: TierForm, shadow: ShadowForm, tolerance: ToleranceForm, models: ModelsForm } as const;

export interface SettingsProps {
  readonly account: OperatorAccount;
  readonly isAdmin: boolean;
}

export function Settings({ account, isAdmin }: SettingsProps) {
  const [chosen, setChosen] = useState<Setting | null>(null);
  const Form = chosen && forms[chosen];
  const change = (setting: Setting) =>
    mayChange(account, setting) && (
      <Button
        size="compact-xs"
        variant="default"
        aria-label={words.settings.changeOf(words.settings.names[setting])}
        onClick={() => setChosen(setting)}
      >
        Change
      </Button>
    );
  const columns: readonly Column<Setting>[] = [
    { title: 'Setting', cell: (setting) => words.settings.names[setting] },
    { title: 'Value', cell: (setting) => shown[setting](account) },
    ...(isAdmin ? [{ title: words.keys.actions, cell: change }] : []),
  ];
  return (
    <>
      <Title order={2} size="h4">
        {words.settings.title}
      </Title>
      <Rows caption={words.settings.title} columns={columns} rows={settings} idOf={(setting) => setting} empty={null} />
      {Form && <Form account={account} onClose={() => setChosen(null)} />}
    </>
  );
}

/** While an application runs, the tier is the one that it was judged by. */
const mayChange = ({ state }: OperatorAccount, setting: Setting): boolean =>
  state !== 'closed' && !(state === 'onboarding' && setting === 'tier');

const shown: Readonly<Record<Setting, (account: OperatorAccount) => string>> = {
  tier: ({ limits, negotiated, tier }) => {
    const all = (['per_s', 'burst', 'per_day', 'streams'] as const).map(
      (name) => `${number(limits[name])} ${words.limits[name]}`,
    );
    const own = negotiated ? ` ($of its own)` : '';
    return `${words.limits.tiers[tier]}: ${all.join(', ')}${own}`;
  },
  shadow: ({ shadow }) =>
    shadow.length === 0
      ? 'none: all limits are enforced'
      : shadow.map((limit) => words.settings.shadows[limit]).join('; '),
  tolerance: ({ tolerance: { added_cost_percent: percent, added_latency_ms: ms } }) => {
    const slower = ms === null ? 'however slow' : words.settings.slower(number(ms));
    const dearer = percent === null ? 'however dear' : words.settings.dearer(number(percent));
    return `${slower}, ${dearer}`;
  },
  models: ({ models }) => {
    if (models === null) return 'every model';
    return models.length === 0 ? 'none: every call is refused' : models.join(', ');
  },
};
