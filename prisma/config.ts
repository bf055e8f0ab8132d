/** The environment of the migration command, read once. All problems are reported together. */
import type { Pepper } from '@gw/contract/internal/pepper';
import type { RoleSettings } from './grant.ts';
import { type DatabaseRole, databaseRoles } from './roles.ts';
import type { CustomProvider } from './seed.ts';

export interface MigrateConfig {
  /** The URL of the role that owns the tables. */
  readonly databaseUrl: string;
  /** The roles that the services connect as. */
  readonly roles: RoleSettings;
  /** Null: only migrate. */
  readonly seed: SeedConfig | null;
}

export interface SeedConfig {
  readonly pepper: Pepper;
  /** JSON file of mode 0600 with the demo keys' plaintexts; read if it is there, written afterwards. */
  readonly keysFile: string;
  readonly simulatorUrl: string | null;
  readonly provider: CustomProvider | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Throws one error that lists every problem with the variable's name and an example. */
export function readMigrateConfig(env: Environment): MigrateConfig {
  const problems: string[] = [];
  const demand: Demand = (name, example, valid) => {
    const value = env[name] ?? '';
    if (!valid.test(value))
      problems.push(`${name} is ${value === '' ? 'missing' : 'not valid'}, for example ${example}`);
    return value;
  };
  const databaseUrl = demand('GW_DATABASE_URL', 'postgresql://gw@/gw?host=/run/postgres', /^postgres(ql)?:\/\//);
  const roles = readRoles(env, demand);
  let seed: SeedConfig | null = null;
  if (env.GW_SEED === 'demo') {
    const secret = demand('GW_KEY_PEPPER', '64 hexadecimal digits from `openssl rand -hex 32`', /^[0-9a-f]{64}$/i);
    const version = env.GW_KEY_PEPPER_VERSION ? Number(demand('GW_KEY_PEPPER_VERSION', '1', /^[1-9]\d*$/)) : 1;
    if (version > 32_767) problems.push('GW_KEY_PEPPER_VERSION is above 32767, for example 1');
    const pepper = { version, secret: Buffer.from(secret, 'hex') };
    const keysFile = demand('GW_SEED_FILE', '.gw/run/keys.json', /./);
    const simulatorUrl = env.GW_SIM_URL ? demand('GW_SIM_URL', 'http://127.0.0.1:9000', /^https?:\/\//) : null;
    seed = { pepper, keysFile, simulatorUrl, provider: readProvider(env, demand) };
  } else if (env.GW_SEED) problems.push('GW_SEED is not valid, for example demo');
  if (problems.length > 0) throw new Error(`The configuration has problems:\n- ${problems.join('\n- ')}`);
  return Object.freeze({ databaseUrl, roles, seed: seed && Object.freeze(seed) });
}

type Demand = (name: string, example: string, valid: RegExp) => string;

const prefixSetting = 'GW_DATABASE_ROLE_PREFIX';
const passwordSettings: Readonly<Record<DatabaseRole, string>> = {
  ext_authz: 'GW_DATABASE_PASSWORD_EXT_AUTHZ',
  people: 'GW_DATABASE_PASSWORD_PEOPLE',
  customers: 'GW_DATABASE_PASSWORD_CUSTOMERS',
  catalogue: 'GW_DATABASE_PASSWORD_CATALOGUE',
  ledger: 'GW_DATABASE_PASSWORD_LEDGER',
  reader: 'GW_DATABASE_PASSWORD_READER',
};

function readRoles(env: Environment, demand: Demand): RoleSettings {
  const given = databaseRoles.filter((role) => env[passwordSettings[role]]);
  // ASCII, so that no normalisation stands between it and its hash.
  const example = '32 characters or more from `openssl rand -hex 32`';
  const passwords = given.map((role) => [role, demand(passwordSettings[role], example, /^[A-Za-z0-9_-]{16,}$/)]);
  return {
    // With a name of a role behind it, it fits into the 63 bytes of Postgres.
    prefix: env[prefixSetting] ? demand(prefixSetting, 'gw', /^[a-z_][a-z0-9_]{0,49}$/) : 'gw',
    passwords: Object.fromEntries(passwords),
  };
}

function readProvider(env: Environment, demand: Demand): CustomProvider | null {
  if (!env.GW_PROVIDER_URL) return null;
  const url = demand('GW_PROVIDER_URL', 'https://llm.example.com/v1', /^https?:\/\//);
  const models = demand('GW_PROVIDER_MODELS', 'model-a,model-b', /[^,\s]/);
  const optional = (name: string, example: string, valid: RegExp): string | null =>
    env[name] ? demand(name, example, valid) : null;
  const credentialRef = optional('GW_PROVIDER_CREDENTIAL_REF', 'CUSTOM', /^[A-Z0-9_]{1,64}$/);
  const gridZone = optional('GW_PROVIDER_GRID_ZONE', 'DEU', /^([A-Z]{3}|[A-Z]{2}-[A-Z]{2})$/);
  return {
    url,
    models: models.split(',').flatMap((id) => id.trim() || []),
    ...(credentialRef !== null && { credentialRef }),
    ...(gridZone !== null && { gridZone }),
  };
}
