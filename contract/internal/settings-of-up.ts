/** The settings that `./gw up` chooses itself, instead of passing on its user's. */

/** Why `./gw up` does not take a setting from its user. */
const chosenByUp: readonly (readonly [reason: string, names: RegExp])[] = [
  [
    'it makes keys and passwords of its own, in .gw/secrets.json',
    /^GW_((INTERNAL_TOKEN|(KEY_PEPPER|LEDGER_KEY|LEDGER_ENTRY_KEY|NAMES_KEY|WITNESS_KEY|IDEMPOTENCY_KEY|CREDENTIALS_KEY|EVIDENCE_(PUBLIC_)?KEY)(S?_.*|S)?)|LEDGER_(ENTRY_)?KEYS_PREVIOUS|NAMES_KEYS_PREVIOUS|FIRST_OPERATOR_.*|DATABASE_PASSWORD_.*)$/,
  ],
  [
    'its parts listen on sockets and ports of their own: --port and --control-port choose the two for people',
    /^GW_((AUTHZ|SIDECAR|PUBLIC|CONTROL|CONTROL_INTERNAL|PROBE|SIM)(_HEALTH|_METRICS)?_LISTEN|ENVOY_ADMIN_SOCKET|CONTROL_(URL|CONTAINED|TLS_.*)|INTERNAL_TLS_.*|NODE_ID|SIM_URL)$/,
  ],
  ['it starts stores of its own', /^GW_(DATABASE_URL(_.*)?|DATABASE_ROLE_PREFIX|REDIS_URL)$/],
  ['it has files of its own in .gw', /^GW_(SPOOL_DIR|ACCESS_LOG|REPLY_END_MODULE|SEED|SEED_FILE)$/],
  [
    'its own options choose it: --instances, --provider',
    /^GW_((AUTHZ|SIDECAR)_INSTANCES|PROVIDER_(URL|MODELS|CREDENTIAL_REF|GRID_ZONE))$/,
  ],
  ['it does not wait for calls that are under way', /^GW_(SIDECAR_DRAIN_S|ENVOY_DRAIN_S|ENVOY_DRAIN_NOTICE_S)$/],
];

/** Returns why `./gw up` does not pass on a setting, or null if it does. */
export const reasonAgainstUp = (name: string): string | null =>
  chosenByUp.find(([, names]) => names.test(name))?.[0] ?? null;
