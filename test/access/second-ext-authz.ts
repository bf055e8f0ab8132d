/** The second ext-authz of a gateway of two, started again by hand with settings that are known only now. */
import { join } from 'node:path';
import { elementAt } from '@gw/contract/internal/defined';
import { redisUserName } from '@gw/contract/internal/redis-users';
import { inCheckout } from '@gw/stack/checkout';
import { type Child, startChild } from '@gw/stack/child';
import { loadSecrets } from '@gw/stack/secrets';
import { valkeyUrlAs } from '@gw/stack/services/valkey';
import { instancesOf } from '../outage/instances.ts';
import { eventually, type OwnGateway } from '../outage/own-gateway.ts';

export async function startSecond({ dir, stack }: OwnGateway, changed: Record<string, string>): Promise<Child> {
  await stack.part('ext-authz-2').stop();
  const { internalToken, pepper, valkeyExtAuthz, witnessKey } = loadSecrets(dir);
  const env = {
    PATH: process.env.PATH,
    GW_AUTHZ_LISTEN: `unix:${join(stack.sockets, 'ext-authz-2.sock')}`,
    GW_AUTHZ_HEALTH_LISTEN: stack.healthUrls['ext-authz-2']?.replace('http://', ''),
    GW_BASE_URL: stack.publicUrl,
    GW_REDIS_URL: valkeyUrlAs(elementAt(stack.redisUrl.split('?'), 0), redisUserName('ext_authz'), valkeyExtAuthz),
    GW_INTERNAL_TOKEN: internalToken,
    GW_KEY_PEPPER: pepper,
    GW_WITNESS_KEY: witnessKey,
    ...changed,
  };
  const args = [inCheckout('dist', 'ext-authz.js')];
  const logFile = join(stack.logs, 'ext-authz-2.log');
  const child = await startChild({ command: process.execPath, args, env, logFile });
  await eventually('the second ext-authz', async () => (await instancesOf(stack, 'ext-authz'))[1]?.isIn === true);
  return child;
}
