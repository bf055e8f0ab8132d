/** The settings that `./gw up` chooses itself, instead of passing on its user's. */

/** Why `./gw up` does not take a setting from its user. */
const chosenByUp: readonly (readonly [reason: string, names: RegExp])[] = [
  [
    'it generates its own keys and passwords, in .gw/secrets.json',
    /^GW_((INTERNAL_TOKEN|(KEY_PEPPER|LEDGER_KEY|LEDGER_ENTRY_KEY|NAMES_KEY|WITNESS_KEY|IDEMPOTENCY_KEY|CREDENTIALS_KEY|EVIDENCE_(PUBLIC_)?KEY)(S?_.*|S)?)|LEDGER_(ENTRY_)?KEYS_PREVIOUS|NAMES_KEYS_PREVIOUS|FIRST_OPERATOR_.*|DATABASE_PASSWORD_.*)$/,
  ],
  [
    'it chooses where its parts listen; set the ports for people with --port and --control-port',
    /^GW_((AUTHZ|SIDECAR|PUBLIC|CONTROL|CONTROL_INTERNAL|PROBE|SIM)(_HEALTH|_METRICS)?_LISTEN|ENVOY_ADMIN_SOCKET|CONTROL_(URL|CONTAINED|TLS_.*)|INTERNAL_TLS_.*|NODE_ID|SIM_URL)$/,
  ],
  ['it starts its own stores', /^GW_(DATABASE_URL(_.*)?|DATABASE_ROLE_PREFIX|REDIS_URL)$/],
  ['it keeps its own files in .gw', /^GW_(SPOOL_DIR|ACCESS_LOG|REPLY_END_MODULE|SEED|SEED_FILE)$/],
  [
    'use --instances and --provider instead',
    /^GW_((AUTHZ|SIDECAR)_INSTANCES|PROVIDER_(URL|MODELS|CREDENTIAL_REF|GRID_ZONE))$/,
  ],
  ['it does not wait for calls that are under way', /^GW_(SIDECAR_DRAIN_S|ENVOY_DRAIN_S|ENVOY_DRAIN_NOTICE_S)$/],
];

/** Returns why `./gw up` does not pass on a setting, or null if it does. */
export const reasonAgainstUp = (name: string): string | null =>
  chosenByUp.find(([, names]) => names.test(name))?.[0] ?? null;
