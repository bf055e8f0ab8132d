/** Lists whose pages nobody wants to turn. */
import type { Page } from './accounts.ts';
import type { OperatorApi } from './api.ts';
import type { TableRow } from './table.ts';

/** All pages of a list. */
export async function everyPage(
  api: OperatorApi,
  at: string,
  filter: Record<string, string> = {},
): Promise<readonly TableRow[]> {
  const rows: TableRow[] = [];
  for (let after: string | undefined; ; ) {
    const page = (await api.get(at, { ...filter, after, limit: 100 })) as Page;
    rows.push(...page.data);
    if (!page.has_more) return rows;
    after = page.last_id ?? undefined;
  }
}
