/** `migrate`: brings the database up to date, then seeds it if asked. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { errorText } from '@gw/contract/internal/error-text';
import { ignoredSettings } from '@gw/contract/internal/ignored-settings';
import { settingsOf } from '@gw/contract/internal/settings';
import { openDatabase } from './client.ts';
import { readMigrateConfig, type SeedConfig } from './config.ts';
import { grantRoles } from './grant.ts';
import { migrate } from './migrate.ts';
import { type SeededKeys, seed } from './seed.ts';

const log = (line: string): void => void process.stderr.write(`migrate: ${line}\n`);

try {
  const config = readMigrateConfig(process.env);
  for (const text of ignoredSettings(process.env, 'migrate', new Set(settingsOf.migrate))) log(text);
  await migrate(config.databaseUrl, log);
  await grantRoles(config.databaseUrl, config.roles, log);
  if (config.seed !== null) await seedDemo(config.databaseUrl, config.seed);
} catch (error) {
  log(errorText(error));
  process.exitCode = 1;
}

async function seedDemo(databaseUrl: string, config: SeedConfig): Promise<void> {
  const db = openDatabase(databaseUrl, { connections: 1 });
  try {
    const { pepper, simulatorUrl, provider, keysFile } = config;
    const keys = await seed(db, {
      pepper,
      existing: readKeys(keysFile),
      ...(simulatorUrl !== null && { simulatorUrl }),
      ...(provider !== null && { provider }),
    });
    writeKeys(keysFile, keys);
    log('seeded the demo accounts');
  } finally {
    await db.$disconnect();
  }
}

/** A missing or unreadable file only means that new keys are made. */
function readKeys(file: string): Record<string, string> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof value !== 'object' || value === null) return {};
    return Object.fromEntries(Object.entries(value).filter(([, text]) => typeof text === 'string'));
  } catch {
    return {};
  }
}

/** Written beside and renamed, so that a reader never sees half a file. */
function writeKeys(file: string, keys: SeededKeys): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
