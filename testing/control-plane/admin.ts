import { runAdmin } from '@gw/cli/internals/commands/admin';
import { findTarget, openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import type { TestApp } from './app.ts';

/** Runs `./gw admin …` in this process, with the token of an operator. Rejects if the command fails. */
export async function runAs(
  { operatorUrl }: Pick<TestApp, 'operatorUrl'>,
  token: string,
  args: readonly string[],
): Promise<{ readonly code: number; readonly out: string; readonly note: string }> {
  const target = findTarget({ GW_CONTROL_URL: operatorUrl, GW_OPERATOR_TOKEN: token }, null);
  let [out, note] = ['', ''];
  const code = await runAdmin(args, {
    openApi: () => openOperatorApi(target),
    print: (text) => {
      out += text;
    },
    tell: (text) => {
      note += text;
    },
  });
  return { code, out, note };
}
