import { Button, Modal, NativeSelect, NumberInput, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, must } from '../../api/client.ts';
import type { Budget } from '../../api/types.ts';
import { Failure } from '../../parts/failure.tsx';
import { useOnce } from '../../parts/use-once.ts';
import { words } from '../../words/words.ts';

type Unit = Budget['unit'];
type Kind = Budget['kind'];

/** A budget for a key or a project; one for the whole account is an operator's. */
export function BudgetForm({ onClose }: { readonly onClose: () => void }) {
  const [scope, setScope] = useState<'key' | 'project'>('project');
  const queries = useQueryClient();
  const once = useOnce();
  const set = useMutation({
    mutationFn: (body: { scope: 'key' | 'project'; name: string; unit: Unit; amount: number; kind: Kind }) =>
      once(body, (headers) => must(api.POST('/organisation/v1/budgets', { body, headers }))),
    onSuccess: () => {
      onClose();
      return queries.invalidateQueries({ queryKey: ['budgets'] });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string): string => String(form.get(name) ?? '').trim();
    const amount = Number(text('amount').replaceAll(' ', ''));
    set.mutate({ scope, name: text('name'), unit: text('unit') as Unit, amount, kind: text('kind') as Kind });
  };
  return (
    <Modal opened onClose={onClose} title={words.budgets.set} closeButtonProps={{ 'aria-label': words.close }}>
      <form onSubmit={submit}>
        <Stack>
          <NativeSelect
            label={words.budgets.of}
            value={scope}
            onChange={({ currentTarget }) => setScope(currentTarget.value as typeof scope)}
            data={(['project', 'key'] as const).map((value) => ({ value, label: words.budgets.scopes[value] }))}
          />
          <TextInput name="name" label={words.budgets.names[scope]} required maxLength={100} />
          <NativeSelect
            name="unit"
            label={words.budgets.unit}
            data={Object.entries(words.budgets.unitNames).map(([value, label]) => ({ value, label }))}
          />
          <NumberInput name="amount" label={words.budgets.amount} min={0} required thousandSeparator=" " />
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
