/** Calls of an account with a budget of tokens, and what came of them. */
import { Agent, request } from 'node:http';
import type { OperatorApi } from '@gw/cli/internals/commands/admin/api';
import type { Stack } from '@gw/stack/stack';

export interface Budget {
  readonly id: string;
  readonly used: number;
  readonly used_estimated: number;
  readonly reserved: number;
  readonly amount: number;
}

export interface Spent {
  /** 0: the connection broke. */
  readonly status: number;
  /** The code of a refusal. */
  readonly code: string | null;
  /** The tokens that the reply says were used. */
  readonly tokens: number;
}

/** Each call may write this many tokens, so that its estimate exceeds its use. */
const maxTokens = 30;

/** Runs calls in some way, and returns what came of each. */
type Pace = (calls: number, once: () => Promise<Spent>) => Promise<Spent[]>;
const allAtOnce: Pace = (calls, once) => Promise.all(Array.from({ length: calls }, once));

/** Sends so many calls over as many connections as `pace` needs, all at once by default, and waits for all. */
export async function spend(
  { publicUrl }: Pick<Stack, 'publicUrl'>,
  key: string,
  calls: number,
  pace: Pace = allAtOnce,
): Promise<Spent[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: calls });
  const { hostname, port } = new URL(publicUrl);
  const body = JSON.stringify({
    model: 'sim-small',
    max_tokens: maxTokens,
    messages: [{ role: 'user', content: 'Hello' }],
  });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': body.length };
  const once = () =>
    new Promise<Spent>((resolve) => {
      const lost = () => resolve({ status: 0, code: null, tokens: 0 });
      const path = '/v1/chat/completions';
      const sent = request({ agent, hostname, port, path, method: 'POST', headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        response.on('error', lost).on('end', () => {
          const { error, usage } = JSON.parse(text);
          resolve({ status: response.statusCode ?? 0, code: error?.code ?? null, tokens: usage?.total_tokens ?? 0 });
        });
      });
      sent.on('error', lost).end(body);
    });
  try {
    return await pace(calls, once);
  } finally {
    agent.destroy();
  }
}

const pathOf = (accountId: string): string => `/operator/v1/accounts/${accountId}/budgets`;

export async function setBudget(api: OperatorApi, accountId: string, amount: number): Promise<Budget> {
  const body = { scope: 'account', unit: 'tokens', amount, kind: 'hard' };
  return (await api.send('POST', pathOf(accountId), body)) as Budget;
}

export async function readBudget(api: OperatorApi, accountId: string, id: string): Promise<Budget> {
  const { data } = (await api.get(pathOf(accountId))) as { readonly data: readonly Budget[] };
  const found = data.find((each) => each.id === id);
  if (found === undefined) throw new Error(`The budget ${id} is gone.`);
  return found;
}

export const changeBudget = (api: OperatorApi, accountId: string, id: string, amount: number) =>
  api.send('PATCH', `${pathOf(accountId)}/${id}`, { amount });
export const removeBudget = (api: OperatorApi, accountId: string, id: string) =>
  api.send('DELETE', `${pathOf(accountId)}/${id}`);

/** The sums of this month's receipts, and how many of them have no number. */
export async function usedByReceipts(api: OperatorApi, accountId: string) {
  const from = `${new Date().toISOString().slice(0, 7)}-01`;
  const query = { account_id: accountId, from, interval: 'total', group_by: '', simulated: 'include' };
  const { total } = (await api.get('/operator/v1/usage', query)) as { readonly total: Record<string, number> };
  return {
    requests: total.requests ?? 0,
    tokens: (total.prompt_tokens ?? 0) + (total.completion_tokens ?? 0),
    degraded: total.requests_degraded ?? 0,
  };
}
