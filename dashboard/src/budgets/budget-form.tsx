import { Button, Modal, NativeSelect, NumberInput, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { Budget } from '../api/types.ts';
import { Failure } from '../parts/failure.tsx';
import { useOnce } from '../parts/use-once.ts';
import { words } from '../words/words.ts';
import type { BudgetPlace, BudgetScope, WantedBudget } from './place.ts';

export interface BudgetFormProps {
  readonly place: BudgetPlace;
  readonly onClose: () => void;
}

export function BudgetForm({ place, onClose }: BudgetFormProps) {
  const { queryKey, scopes } = place;
  const [scope, setScope] = useState<BudgetScope>(scopes[0] ?? 'project');
  const queries = useQueryClient();
  const once = useOnce();
  const set = useMutation({
    mutationFn: (budget: WantedBudget) => once(budget, (headers) => place.set(budget, headers)),
    onSuccess: () => {
      onClose();
      return queries.invalidateQueries({ queryKey });
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
