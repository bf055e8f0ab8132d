/** An account's settings. An admin changes each of them in its own form. */
import {
  Alert,
  Button,
  Checkbox,
  NativeSelect,
  NumberInput,
  Radio,
  ScrollArea,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useState } from 'react';
import { useAliases, useModels } from '../../../api/operator-queries.ts';
import type { OperatorAccount } from '../../../api/types.ts';
import { Failed } from '../../../parts/failure.tsx';
import { type Column, Rows } from '../../../parts/table.tsx';
import { number } from '../../../words/format.ts';
import { accountTokens } from '../../../words/limits.ts';
import { words } from '../../../words/operator-words.ts';
import { type FormOfAccountProps, SettingForm } from './setting-form.tsx';

type Setting = keyof typeof words.settings.names;
const settings = Object.keys(words.settings.names) as Setting[];
const forms = {
  tier: TierForm,
  tokens: TokensForm,
  shadow: ShadowForm,
  tolerance: ToleranceForm,
  usage_impacts: UsageImpactsForm,
  models: ModelsForm,
} as const;

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
        aria-label={`Change: ${words.settings.names[setting]}`}
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
    const own = negotiated ? ' (of its own)' : '';
    return `${words.limits.tiers[tier]}: ${all.join(', ')}${own}`;
  },
  tokens: ({ tokens }) => accountTokens(tokens),
  shadow: ({ shadow }) =>
    shadow.length === 0
      ? 'none: all limits are enforced'
      : shadow.map((limit) => words.settings.shadows[limit]).join('; '),
  tolerance: ({ tolerance: { added_cost_percent: percent, added_latency_ms: ms } }) => {
    const slower = ms === null ? 'however slow' : `up to ${number(ms)} ms slower`;
    const dearer = percent === null ? 'however dear' : `up to ${number(percent)} % dearer`;
    return `${slower}, ${dearer}`;
  },
  usage_impacts: ({ usage_impacts: states }) => (states ? 'stated' : 'not stated'),
  models: ({ models }) => {
    if (models === null) return 'every model';
    return models.length === 0 ? 'none: every call is refused' : models.join(', ');
  },
};

type Tier = OperatorAccount['tier'];
type Limits = OperatorAccount['limits'];
/** As a field has it: empty while it is written anew. */
type Written = Readonly<Record<keyof Limits, number | string>>;

const names = ['per_s', 'burst', 'per_day', 'streams'] as const;
const tiers = Object.entries<string>(words.limits.tiers).map(([value, label]) => ({ value, label }));

/** The tier of an account; one of Enterprise has limits of its own. */
function TierForm({ account, onClose }: FormOfAccountProps) {
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

type Shadow = OperatorAccount['shadow'][number];
const limits = Object.keys(words.settings.shadows) as Shadow[];

/** The limits that refuse nothing. */
function ShadowForm({ account, onClose }: FormOfAccountProps) {
  const [chosen, setChosen] = useState<string[]>(account.shadow);
  const shadow = limits.filter((limit) => chosen.includes(limit));
  return (
    <SettingForm setting="shadow" account={account} wanted={{ shadow }} onClose={onClose}>
      <Checkbox.Group label={words.settings.names.shadow} value={chosen} onChange={setChosen}>
        <Stack gap={4} mt={4}>
          {limits.map((limit) => (
            <Checkbox key={limit} value={limit} label={words.settings.shadows[limit]} />
          ))}
        </Stack>
      </Checkbox.Group>
    </SettingForm>
  );
}

/** How many tokens an account may use. */
function TokensForm({ account, onClose }: FormOfAccountProps) {
  const [minute, setMinute] = useState<number | string>(account.tokens.per_minute ?? '');
  const [day, setDay] = useState<number | string>(account.tokens.per_day ?? '');
  const tokens = { per_minute: boundIn(minute), per_day: boundIn(day) };
  const field = { description: 'Empty: as the tier', min: 1, max: 2_147_483_647, allowDecimal: false };
  return (
    <SettingForm setting="tokens" account={account} wanted={{ tokens }} onClose={onClose}>
      <NumberInput {...field} label="Tokens a minute" value={minute} onChange={setMinute} />
      <NumberInput {...field} label="Tokens a day (UTC)" value={day} onChange={setDay} />
    </SettingForm>
  );
}

/** How much slower or dearer a cleaner region may be. */
function ToleranceForm({ account, onClose }: FormOfAccountProps) {
  const [latency, setLatency] = useState<number | string>(account.tolerance.added_latency_ms ?? '');
  const [cost, setCost] = useState<number | string>(account.tolerance.added_cost_percent ?? '');
  const tolerance = { added_latency_ms: boundIn(latency), added_cost_percent: boundIn(cost) };
  const field = { description: 'Empty: any', min: 0, max: 1_000_000, allowDecimal: false };
  return (
    <SettingForm setting="tolerance" account={account} wanted={{ tolerance }} onClose={onClose}>
      <NumberInput {...field} label="Added latency, ms" value={latency} onChange={setLatency} />
      <NumberInput {...field} label="Added cost, percent" value={cost} onChange={setCost} />
    </SettingForm>
  );
}

/** Whether replies are read by clients of EcoLogits or OpenGateLLM. */
function UsageImpactsForm({ account, onClose }: FormOfAccountProps) {
  const [states, setStates] = useState(account.usage_impacts);
  return (
    <SettingForm setting="usage_impacts" account={account} wanted={{ usage_impacts: states }} onClose={onClose}>
      <Checkbox
        label="Replies state usage.impacts"
        checked={states}
        onChange={({ currentTarget }) => setStates(currentTarget.checked)}
      />
    </SettingForm>
  );
}

/** Empty means that there is no bound. */
const boundIn = (written: number | string): number | null => (typeof written === 'number' ? written : null);

const [every, named] = ['every', 'named'] as const;

/** The models and aliases that an account can call: every one, or those that are named. */
function ModelsForm({ account, onClose }: FormOfAccountProps) {
  const [choice, setChoice] = useState<string>(account.models === null ? every : named);
  const [chosen, setChosen] = useState(account.models ?? []);
  const models = useModels();
  const aliases = useAliases();
  const ids = [...(models.data?.data ?? []), ...(aliases.data?.data ?? [])].map(({ id }) => id);
  return (
    <SettingForm
      setting="models"
      account={account}
      wanted={{ models: choice === named ? chosen : null }}
      onClose={onClose}
    >
      <Failed of={models} />
      <Failed of={aliases} />
      <Radio.Group label={words.settings.names.models} value={choice} onChange={setChoice}>
        <Stack gap={4} mt={4}>
          <Radio value={every} label="Every model, also those that are added later" />
          <Radio value={named} label="These alone" />
        </Stack>
      </Radio.Group>
      {choice === named && (
        // Also what the catalogue no longer has.
        <Choice all={[...new Set([...ids, ...chosen])].sort()} chosen={chosen} onChange={setChosen} />
      )}
    </SettingForm>
  );
}

interface ChoiceProps {
  readonly all: readonly string[];
  readonly chosen: string[];
  readonly onChange: (chosen: string[]) => void;
}

/** Boxes to tick, and a field that leaves those that hold a text. */
function Choice({ all, chosen, onChange }: ChoiceProps) {
  const [part, setPart] = useState('');
  const shown = all.filter((id) => id.includes(part.trim()));
  return (
    <>
      <TextInput
        label="Show those whose name holds"
        value={part}
        onChange={({ currentTarget }) => setPart(currentTarget.value)}
      />
      <Checkbox.Group label="Models and aliases" value={chosen} onChange={onChange}>
        <ScrollArea.Autosize mah={220} type="auto" mt={4}>
          <Stack gap={6}>
            {shown.map((id) => (
              <Checkbox key={id} value={id} label={id} />
            ))}
            {shown.length === 0 && <Text size="sm">The catalogue has none of this name.</Text>}
          </Stack>
        </ScrollArea.Autosize>
      </Checkbox.Group>
    </>
  );
}
