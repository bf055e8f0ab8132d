/** The budgets of a place, with what is used of them. */
import {
  Badge,
  Button,
  Group,
  Modal,
  NativeSelect,
  NumberInput,
  Progress,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { Budget } from '../api/types.ts';
import { whileUsed } from '../api/while-used.ts';
import { At } from '../parts/at.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Failure } from '../parts/failure.tsx';
import { type Column, Empty, Rows } from '../parts/table.tsx';
import { type OnceHeaders, useOnce } from '../parts/use-once.ts';
import { budgetAmount } from '../words/format.ts';
import { words } from '../words/words.ts';

const scopeWords: Readonly<Record<string, string>> = words.budgets.scopes;
const scopeWord = (scope: string): string => scopeWords[scope] ?? scope;

export function BudgetList({ place }: { readonly place: BudgetPlace }) {
  const [isSetting, setIsSetting] = useState(false);
  const [removed, setRemoved] = useState<Budget | null>(null);
  const maySet = place.scopes.length > 0;
  const budgets = useQuery({
    queryKey: place.queryKey,
    queryFn: place.list,
    refetchInterval: () => whileUsed(15_000),
  });
  const remove = (budget: Budget) =>
    place.mayRemove(budget) && (
      <Button size="compact-xs" variant="default" onClick={() => setRemoved(budget)}>
        {words.budgets.remove}
      </Button>
    );
  return (
    <>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {words.budgets.title}
        </Title>
        {maySet && <Button onClick={() => setIsSetting(true)}>{words.budgets.set}</Button>}
      </Group>
      <Rows
        caption={words.budgets.title}
        columns={maySet ? [...columns, { title: words.keys.actions, cell: remove }] : columns}
        rows={budgets.data?.data}
        idOf={({ id }) => id}
        query={budgets}
        empty={
          <Empty title="No budgets">
            A budget holds an account, a key or a project to an amount of carbon, energy, tokens or money in a month.
          </Empty>
        }
      />
      {isSetting && <BudgetForm place={place} onClose={() => setIsSetting(false)} />}
      {removed && <Remove place={place} budget={removed} onClose={() => setRemoved(null)} />}
    </>
  );
}

const columns: readonly Column<Budget>[] = [
  { title: words.budgets.of, cell: ({ scope, name }) => [scopeWord(scope), name].filter(Boolean).join(' ') },
  { title: words.budgets.kind, cell: ({ kind }) => <Badge variant="light">{words.budgets.kinds[kind]}</Badge> },
  { title: 'Used and reserved', cell: (budget) => <Used budget={budget} /> },
  { title: 'Begins anew', cell: ({ begins_anew_at }) => <At time={begins_anew_at} /> },
  { title: 'Set by', cell: ({ set_by }) => words.budgets.setters[set_by] },
];

function Used({ budget }: { readonly budget: Budget }) {
  const { percent, unit, used, used_estimated: estimated, reserved } = budget;
  const most = budgetAmount(budget.amount, unit);
  const text = `${reserved === null ? words.unknown : budgetAmount(used + estimated + reserved, unit)} of ${most} (${percent} %)`;
  return (
    <Stack gap={2} miw={180}>
      <Progress
        value={Math.min(percent, 100)}
        color={percent >= 100 ? 'red' : percent >= 80 ? 'orange' : 'green'}
        aria-label={text}
      />
      <Text size="xs">{text}</Text>
      {estimated > 0 && (
        <Text size="xs" c="dimmed">
          {budgetAmount(estimated, unit)} of it estimated, for calls whose receipts have no number
        </Text>
      )}
    </Stack>
  );
}

interface RemoveProps {
  readonly place: BudgetPlace;
  readonly budget: Budget;
  readonly onClose: () => void;
}

const Remove = ({ place, budget, onClose }: RemoveProps) => (
  <Confirm
    title="Remove the budget"
    hint="Calls are no longer held against it. What was used stays in usage and receipts; you can set it again."
    label={words.budgets.remove}
    isDangerous
    send={() => place.remove(budget.id)}
    onClose={onClose}
  />
);

export type BudgetScope = 'account' | 'key' | 'project';

export interface WantedBudget {
  readonly scope: BudgetScope;
  /** The name of the key or the project; an account needs none. */
  readonly name?: string;
  readonly unit: Budget['unit'];
  readonly amount: number;
  readonly kind: Budget['kind'];
}

export interface BudgetPlace {
  /** The key of the list, which is read again after a change. */
  readonly queryKey: readonly unknown[];
  /** The scopes that a budget can be set for; empty where none may be set. */
  readonly scopes: readonly BudgetScope[];
  readonly mayRemove: (budget: Budget) => boolean;
  readonly list: () => Promise<{ readonly data: readonly Budget[] }>;
  readonly set: (budget: WantedBudget, headers: OnceHeaders) => Promise<unknown>;
  readonly remove: (id: string) => Promise<unknown>;
}

interface BudgetFormProps {
  readonly place: BudgetPlace;
  readonly onClose: () => void;
}

function BudgetForm({ place, onClose }: BudgetFormProps) {
  const { queryKey, scopes } = place;
  const [scope, setScope] = useState<BudgetScope>(scopes[0] ?? 'project');
  const queries = useQueryClient();
  const once = useOnce();
  const set = useMutation({
    mutationFn: (budget: WantedBudget) => once(budget, (headers) => place.set(budget, headers)),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey });
      onClose();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    set.mutate(wantedIn(new FormData(event.currentTarget), scope));
  };
  return (
    <Modal opened onClose={onClose} title={words.budgets.set} closeButtonProps={{ 'aria-label': words.close }}>
      <form onSubmit={submit}>
        <Stack>
          <NativeSelect
            label={words.budgets.of}
            value={scope}
            onChange={({ currentTarget }) => setScope(currentTarget.value as BudgetScope)}
            data={scopes.map((value) => ({ value, label: words.budgets.scopes[value] }))}
          />
          {scope !== 'account' && <TextInput name="name" label={words.budgets.names[scope]} required maxLength={100} />}
          <NativeSelect
            name="unit"
            label="What it counts"
            data={Object.entries(words.budgets.unitNames).map(([value, label]) => ({ value, label }))}
          />
          <NumberInput name="amount" label="Amount for a month (UTC)" min={0} required thousandSeparator=" " />
          <NativeSelect
            name="kind"
            label={words.budgets.kind}
            data={Object.entries(words.budgets.kindHints).map(([value, label]) => ({ value, label }))}
          />
          <Failure error={set.error} />
          <Button type="submit" loading={set.isPending}>
            {words.budgets.set}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}

function wantedIn(form: FormData, scope: BudgetScope): WantedBudget {
  const text = (name: string): string => String(form.get(name) ?? '').trim();
  return {
    scope,
    ...(scope !== 'account' && { name: text('name') }),
    unit: text('unit') as Budget['unit'],
    amount: Number(text('amount').replaceAll(' ', '')),
    kind: text('kind') as Budget['kind'],
  };
}
