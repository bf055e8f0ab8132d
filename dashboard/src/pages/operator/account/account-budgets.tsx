/** The budgets of an account, as operators see and set them. */
import { api, must } from '../../../api/client.ts';
import { BudgetList } from '../../../budgets/budget-list.tsx';

export interface AccountBudgetsProps {
  readonly accountId: string;
  readonly mayChange: boolean;
}

export function AccountBudgets({ accountId, mayChange }: AccountBudgetsProps) {
  const path = '/operator/v1/accounts/{accountId}/budgets';
  const params = { path: { accountId } };
  return (
    <BudgetList
      place={{
        queryKey: ['budgets of', accountId],
        scopes: mayChange ? ['account', 'project', 'key'] : [],
        mayRemove: () => mayChange,
        list: () => must(api.GET(path, { params })),
        set: (body, headers) => must(api.POST(path, { params, body, headers })),
        remove: (id) =>
          must(api.DELETE('/operator/v1/accounts/{accountId}/budgets/{id}', { params: { path: { accountId, id } } })),
      }}
    />
  );
}
