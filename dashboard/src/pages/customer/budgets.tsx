/** The account's limits and budgets, and how much of them is used. */
import { Group, Progress, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { api, must } from '../../api/client.ts';
import { useAccount } from '../../api/session.ts';
import type { BudgetPlace } from '../../budgets/budget-list.tsx';
import { BudgetList } from '../../budgets/budget-list.tsx';
import { Failed } from '../../parts/failure.tsx';
import { PageTitle } from '../../parts/shell.tsx';
import { number } from '../../words/format.ts';
import { accountTokens } from '../../words/limits.ts';
import { words } from '../../words/words.ts';

/** A budget of the whole account is an operator's. */
const ownBudgets: BudgetPlace = {
  queryKey: ['budgets'],
  scopes: ['project', 'key'],
  mayRemove: ({ set_by }) => set_by === 'organisation',
  list: () => must(api.GET('/organisation/v1/budgets')),
  set: (body, headers) => must(api.POST('/organisation/v1/budgets', { body, headers })),
  remove: (id) => must(api.DELETE('/organisation/v1/budgets/{id}', { params: { path: { id } } })),
};

export function Budgets() {
  return (
    <>
      <PageTitle>{words.pages.budgets}</PageTitle>
      <Stack>
        <Limits />
        <BudgetList place={ownBudgets} />
      </Stack>
    </>
  );
}

function Limits() {
  const account = useAccount();
  if (account.isError) return <Failed of={account} />;
  if (account.data === undefined) return null;
  const { limits, tier, tokens, used_today } = account.data;
  return (
    <>
      <Title order={2} size="h4">
        {`Limits of the tier ${words.limits.tiers[tier]}`}
      </Title>
      <SimpleGrid cols={{ base: 2, sm: 4 }}>
        {(['per_s', 'burst', 'per_day', 'streams'] as const).map((name) => (
          <Group key={name} gap={4}>
            <Text fw={700}>{number(limits[name])}</Text>
            <Text size="sm">{words.limits[name]}</Text>
          </Group>
        ))}
      </SimpleGrid>
      <Text size="sm">{`${words.limits.tokens}: ${accountTokens(tokens)}`}</Text>
      {used_today !== null && (
        <Stack gap={2} maw={420}>
          <Progress value={(100 * used_today) / limits.per_day} aria-label={words.limits.today(number(used_today))} />
          <Text size="sm">{words.limits.today(number(used_today))}</Text>
        </Stack>
      )}
    </>
  );
}
