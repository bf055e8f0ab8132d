/** The operator API of a gateway, as its admin uses it. */
import { ApiRefusal, findTarget, type OperatorApi, openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import type { Stack } from '@gw/stack/stack';

export type OperatorPlace = Pick<Stack, 'controlUrl' | 'operatorToken'>;

/** For a process of its own. */
export const operatorVariables = ({ controlUrl, operatorToken }: OperatorPlace) => ({
  GW_CONTROL_URL: controlUrl,
  GW_OPERATOR_TOKEN: operatorToken,
});

/**
 * In this process: what is measured from a reply begins with it, not with the end of a command. Anything but success throws, in the
 * words of the shell.
 */
export const apiOf = (place: OperatorPlace): OperatorApi => openOperatorApi(findTarget(operatorVariables(place), null));

/** Takes out what is there of these, in this order; paths are those under `/operator/v1/`. */
export async function removeEntries(api: OperatorApi, ...paths: readonly string[]): Promise<void> {
  for (const path of paths)
    await api.send('DELETE', `/operator/v1/${path}`).catch((error: unknown) => {
      if (!(error instanceof ApiRefusal)) throw error;
    });
}
