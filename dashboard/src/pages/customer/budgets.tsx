/** What the account may use, and how much of it is used. */
import { Badge, Button, Group, Progress, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccount } from '../../api/account.ts';
import { api, must } from '../../api/client.ts';
import type { Budget } from '../../api/types.ts';
import { At } from '../../parts/at.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Failed } from '../../parts/failure.tsx';
import { type Column, Empty, Rows } from '../../parts/table.tsx';
import { whileUsed } from '../../parts/while-used.ts';
import { PageTitle } from '../../shell.tsx';
import { budgetAmount, number } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { BudgetForm } from './budget-form.tsx';

const scopeWords: Readonly<Record<string, string>> = words.budgets.scopes;
const scopeWord = (scope: string): string => scopeWords[scope] ?? scope;

export function Budgets() {
  const [isSetting, setIsSetting] = useState(false);
  const [removed, setRemoved] = useState<Budget | null>(null);
  const budgets = useQuery({
    queryKey: ['budgets'],
    queryFn: () => must(api.GET('/organisation/v1/budgets')),
    refetchInterval: () => whileUsed(15_000),
  });
  const columns: Column<Budget>[] = [
    { title: words.budgets.of, cell: ({ scope, name }) => [scopeWord(scope), name].filter(Boolean).join(' ') },
    {
      title: words.budgets.kind,
      cell: ({ kind }) => <Badge variant="light">{words.budgets.kinds[kind]}</Badge>,
    },
    { title: words.budgets.used, cell: (budget) => <Used budget={budget} /> },
    { title: words.budgets.anew, cell: ({ begins_anew_at }) => <At time={begins_anew_at} /> },
    {
      title: words.keys.actions,
      cell: (budget) =>
        budget.set_by === 'organisation' ? (
          <Button size="compact-xs" variant="default" onClick={() => setRemoved(budget)}>
            {words.budgets.remove}
          </Button>
        ) : (
          <Text size="xs">{words.budgets.byOperator}</Text>
        ),
    },
  ];
  const set = <Button onClick={() => setIsSetting(true)}>{words.budgets.set}</Button>;
  return (
    <>
      <PageTitle actions={set}>{words.pages.budgets}</PageTitle>
      <Stack>
        <Limits />
        <Title order={2} size="h4">
          {words.budgets.title}
        </Title>
        <Rows
          caption={words.budgets.title}
          columns={columns}
          rows={budgets.data?.data}
          idOf={({ id }) => id}
          query={budgets}
          empty={<Empty title={words.budgets.empty}>{words.budgets.emptyHint}</Empty>}
        />
      </Stack>
      {isSetting && <BudgetForm onClose={() => setIsSetting(false)} />}
      {removed && <Remove budget={removed} onClose={() => setRemoved(null)} />}
    </>
  );
}

function Used({ budget }: { readonly budget: Budget }) {
  const { percent, unit, used, reserved } = budget;
  const most = budgetAmount(budget.amount, unit);
  const text = words.budgets.usedOf(
    reserved === null ? words.unknown : budgetAmount(used + reserved, unit),
    most,
    percent,
  );
  return (
    <Stack gap={2} miw={180}>
      <Progress
        value={Math.min(percent, 100)}
        color={percent >= 100 ? 'red' : percent >= 80 ? 'orange' : 'green'}
        aria-label={text}
      />
      <Text size="xs">{text}</Text>
    </Stack>
  );
}

function Limits() {
  const account = useAccount();
  if (account.isError) return <Failed of={account} />;
  if (account.data === undefined) return null;
  const { limits, tier, used_today } = account.data;
  return (
    <>
      <Title order={2} size="h4">
        {words.limits.title(words.limits.tiers[tier])}
      </Title>
      <SimpleGrid cols={{ base: 2, sm: 4 }}>
        {(['per_s', 'burst', 'per_day', 'streams'] as const).map((name) => (
          <Group key={name} gap={4}>
            <Text fw={700}>{number(limits[name])}</Text>
            <Text size="sm">{words.limits[name]}</Text>
          </Group>
        ))}
      </SimpleGrid>
      {used_today !== null && (
        <Stack gap={2} maw={420}>
          <Progress value={(100 * used_today) / limits.per_day} aria-label={words.limits.today(number(used_today))} />
          <Text size="sm">{words.limits.today(number(used_today))}</Text>
        </Stack>
      )}
    </>
  );
}

function Remove({ budget, onClose }: { readonly budget: Budget; readonly onClose: () => void }) {
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => must(api.DELETE('/organisation/v1/budgets/{id}', { params: { path: { id: budget.id } } })),
    onSuccess: () => {
      onClose();
      return queries.invalidateQueries({ queryKey: ['budgets'] });
    },
  });
  return (
    <Confirm
      opened
      title={words.budgets.removeTitle}
      hint={words.budgets.removeHint}
      label={words.budgets.remove}
      isDangerous
      isRunning={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
