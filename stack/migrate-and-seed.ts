/** Brings the database up to date and fills in the demo accounts and the provider, in a process of its own. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '@gw/contract/internal/defined';
import { checkout } from './machine/checkout.ts';
import { startChild } from './machine/child.ts';
import { Problem } from './machine/problem.ts';
import { readJson } from './private-file.ts';
import type { CustomProvider } from './provider.ts';
import { type DemoKeys, demoKeysSchema } from './run-file.ts';
import { startPostgres } from './services/postgres.ts';
import { fromUser, type Layout, passedOn } from './stack-plans.ts';

export interface SeedRequest {
  readonly layout: Layout;
  /** Null: the simulated provider. */
  readonly provider: CustomProvider | null;
  /** The models of that provider. */
  readonly models: readonly string[];
}

/** Returns the demo keys; those of an earlier run stay valid. */
export async function seedDatabase({ layout, provider, models }: SeedRequest): Promise<DemoKeys> {
  const keysFile = join(layout.dir, 'keys.json');
  await migrate(layout.checkoutOf('migrate'), join(layout.logs, 'migrate.log'), {
    GW_DATABASE_URL: layout.ownerDatabaseUrl,
    GW_KEY_PEPPER: layout.secrets.pepper,
    GW_SEED: 'demo',
    GW_SEED_FILE: keysFile,
    ...(provider
      ? providerVariables(provider, models)
      : { GW_SIM_URL: `http://127.0.0.1:${layout.ports.simulator}/v1` }),
  });
  return demoKeysSchema.parse(readJson(keysFile));
}

/** A cluster at rest whose database is up to date and empty, in `dir`; returns the folder of its data. */
export async function makeTemplateCluster(dir: string): Promise<string> {
  const postgres = await startPostgres({ dir, durable: false, log: () => undefined });
  try {
    await migrate(checkout, join(dir, 'migrate.log'), { GW_DATABASE_URL: postgres.url });
  } finally {
    await postgres.stop();
  }
  return join(dir, 'data');
}

async function migrate(from: string, logFile: string, env: Readonly<Record<string, string>>): Promise<void> {
  const child = await startChild({
    command: process.execPath,
    args: ['--enable-source-maps', join(from, 'dist', 'migrate.js')],
    env: { ...fromUser(passedOn), ...env },
    logFile,
  });
  const { code } = await child.exited;
  if (code === 0) return;
  const reason = defined(readFileSync(logFile, 'utf8').trim().split('\n').at(-1), 'The last line');
  throw new Problem(`The database could not be prepared: ${reason} (${logFile})`);
}

function providerVariables(provider: CustomProvider, models: readonly string[]): Record<string, string> {
  return {
    GW_PROVIDER_URL: provider.url,
    GW_PROVIDER_MODELS: models.join(','),
    ...(provider.key === null ? {} : { GW_PROVIDER_CREDENTIAL_REF: 'CUSTOM' }),
  };
}
