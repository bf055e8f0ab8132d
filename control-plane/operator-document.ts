/** The OpenAPI document of the operators' port, for whoever has no gateway at hand. */
import { openDatabase } from '@gw/prisma/client';
import { byControlPlaneRole, databaseSettings } from '@gw/prisma/roles';
import { openAddressGuard } from '@gw/service/address-guard';
import { openCertificates } from '@gw/service/certificates';
import { openTroubles } from '@gw/service/health/troubles';
import { openLog } from '@gw/service/log';
import { Redis } from 'ioredis';
import { loadConfig } from './config.ts';
import { buildOperatorApp } from './operator-app.ts';
import { openServices } from './services.ts';

const anyKey = '00'.repeat(32);
const nowhere = 'postgresql://nobody@localhost/none';

/** Builds the routes over stores that are never connected to, and has them described. */
export async function operatorDocument(): Promise<string> {
  const config = loadConfig({
    GW_CONTROL_INTERNAL_LISTEN: '127.0.0.1:0',
    GW_PROBE_LISTEN: 'unix:/run/gw/envoy-probe.sock',
    GW_CONTROL_LISTEN: '127.0.0.1:0',
    ...databaseSettings(() => nowhere),
    GW_REDIS_URL: 'redis://localhost',
    GW_INTERNAL_TOKEN: anyKey,
    GW_KEY_PEPPER: anyKey,
    GW_LEDGER_KEY: anyKey,
    GW_LEDGER_ENTRY_KEY: 'ee'.repeat(32),
    GW_WITNESS_KEY: 'dd'.repeat(32),
    GW_EVIDENCE_KEY: anyKey,
    GW_NAMES_KEY: anyKey,
    GW_OBJECTS_DIR: '/nowhere',
    GW_CREDENTIALS_KEY: anyKey,
    GW_IDEMPOTENCY_KEY: anyKey,
  });
  const guard = openAddressGuard([]);
  const db = openDatabase(nowhere);
  const log = openLog('control-plane', 'silent');
  const context = {
    db,
    databases: byControlPlaneRole(() => db),
    redis: new Redis({ lazyConnect: true }),
    objects: config.objects,
    log,
    troubles: openTroubles(log, () => 0),
    addresses: config.addresses,
    guard,
    providerGuard: guard,
    currency: config.currency,
    now: () => new Date(),
  };
  const claims = { send: () => Promise.reject(new Error('There is no store.')) };
  const certificates = await openCertificates({ internal: null, log: context.log, troubles: context.troubles });
  const app = buildOperatorApp(context, openServices(context, config, { claims, certificates }));
  return (await app.inject('/openapi.json')).body;
}
