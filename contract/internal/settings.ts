/**
 * Every setting of the gateway, and who reads it.
 *
 * Invariant: these are the settings that the code reads, that docs/ describes and that docker-compose.yml passes on
 * (deploy/settings.test.ts).
 */

/** The programs that read settings. `envoy` renders Envoy's configuration, and `envoy-image` runs Envoy. */
export const settingReaders = [
  'ext-authz',
  'receipt-sidecar',
  'control-plane',
  'envoy',
  'envoy-image',
  'migrate',
  'simulator',
] as const;
export type SettingReaderName = (typeof settingReaders)[number];

const addresses = ['GW_BASE_URL', 'GW_DOCS_URL', 'GW_STATUS_URL', 'GW_AUDIT_EMAIL', 'GW_SECURITY_EMAIL'];
const evidence = ['GW_EVIDENCE_BUILDS', 'GW_EVIDENCE_CERTIFICATES', 'GW_EVIDENCE_KEY', 'GW_TIMESTAMP_URL'];
const firstOperator = ['GW_FIRST_OPERATOR_CREDENTIAL', 'GW_FIRST_OPERATOR_TOKEN', 'GW_FIRST_OPERATOR_TOKEN_DAYS'];
const operatorTls = ['GW_CONTROL_TLS_CERT_FILE', 'GW_CONTROL_TLS_KEY_FILE'];
const internalTls = ['GW_INTERNAL_TLS_CERT_FILE', 'GW_INTERNAL_TLS_KEY_FILE', 'GW_INTERNAL_TLS_CA_FILE'];
const ofEachService = [
  ...addresses,
  ...internalTls,
  'GW_ALLOWED_HOSTS',
  'GW_INTERNAL_TOKEN',
  'GW_INTERNAL_TOKEN_PREVIOUS',
  'GW_LOG_LEVEL',
  'GW_REDIS_URL',
];
const authzListeners = ['GW_AUTHZ_HEALTH_LISTEN', 'GW_AUTHZ_LISTEN', 'GW_AUTHZ_METRICS_LISTEN'];
const sidecarListeners = ['GW_SIDECAR_HEALTH_LISTEN', 'GW_SIDECAR_LISTEN', 'GW_SIDECAR_METRICS_LISTEN'];
const peppers = ['GW_KEY_PEPPER', 'GW_KEY_PEPPER_VERSION', 'GW_KEY_PEPPER_PREVIOUS', 'GW_KEY_PEPPER_PREVIOUS_VERSION'];
const keyChecks = [...peppers, 'GW_WITNESS_KEY', 'GW_WITNESS_KEY_PREVIOUS'];
const idempotency = ['GW_IDEMPOTENCY_KEY', 'GW_IDEMPOTENCY_KEY_PREVIOUS', 'GW_IDEMPOTENCY_MAX_MB'];
const entryKey = ['GW_LEDGER_ENTRY_KEY', 'GW_LEDGER_ENTRY_KEY_ID'];

/** The settings that each program reads. Credentials of providers come on top, see `isCredential`. */
export const settingsOf: Readonly<Record<SettingReaderName, readonly string[]>> = {
  'ext-authz': [
    ...ofEachService,
    ...keyChecks,
    ...authzListeners,
    'GW_AUTHZ_INSTANCES',
    'GW_DATABASE_URL',
    'GW_GRPC_SERVER',
    'GW_TIER_TOKENS',
  ],
  'receipt-sidecar': [
    ...ofEachService,
    ...idempotency,
    ...entryKey,
    'GW_CLASSIFIER_KEY',
    'GW_CLASSIFIER_MODEL',
    'GW_CLASSIFIER_TIMEOUT_MS',
    'GW_CLASSIFIER_URL',
    'GW_FIRST_BYTE_TIMEOUT_S',
    'GW_GRPC_SERVER',
    'GW_LEDGER_KEEP_S',
    'GW_LEDGER_STREAM_MAX',
    'GW_SIDECAR_DRAIN_S',
    ...sidecarListeners,
    'GW_SIDECAR_INSTANCES',
    'GW_SIDECAR_THREADS',
    'GW_SPOOL_DIR',
    'GW_UPSTREAM_TIMEOUT_S',
    'GW_USAGE_SERIES_MAX',
  ],
  'control-plane': [
    ...ofEachService,
    ...keyChecks,
    ...idempotency,
    ...entryKey,
    ...authzListeners,
    ...sidecarListeners,
    'GW_CONTROL_CONTAINED',
    'GW_CONTROL_HEALTH_LISTEN',
    'GW_CONTROL_INTERNAL_LISTEN',
    'GW_CONTROL_LISTEN',
    'GW_CONTROL_METRICS_LISTEN',
    ...operatorTls,
    'GW_CONTROL_TRUSTED_PROXIES',
    'GW_CONTROL_URL',
    'GW_CREDENTIALS_DIR',
    'GW_CREDENTIALS_KEY',
    'GW_CREDENTIALS_KEY_PREVIOUS',
    'GW_CURRENCY',
    'GW_DATABASE_URL_CATALOGUE',
    'GW_DATABASE_URL_CUSTOMERS',
    'GW_DATABASE_URL_LEDGER',
    'GW_DATABASE_URL_PEOPLE',
    'GW_DATABASE_URL_READER',
    'GW_EVIDENCE_PUBLIC_KEYS',
    'GW_EVIDENCE_QUOTA_MB',
    ...evidence,
    'GW_EVIDENCE_KEY_TOKEN_FILE',
    ...firstOperator,
    'GW_GPU_COUNTERS',
    'GW_GPU_GIVE_UP_S',
    'GW_GPU_MARGIN_S',
    'GW_GPU_MAX_GAP_S',
    'GW_GPU_PROMETHEUS_HEADERS',
    'GW_GPU_PROMETHEUS_LOCAL',
    'GW_GPU_PROMETHEUS_TOKEN',
    'GW_GPU_PROMETHEUS_URL',
    'GW_GPU_REFRESH_S',
    'GW_GRID_ELECTRICITY_MAPS_KEY',
    'GW_GRID_ELECTRICITY_MAPS_LOCAL',
    'GW_GRID_ELECTRICITY_MAPS_URL',
    'GW_GRID_ENTSOE_LOCAL',
    'GW_GRID_ENTSOE_TOKEN',
    'GW_GRID_ENTSOE_URL',
    'GW_GRID_NESO_LOCAL',
    'GW_GRID_NESO_URL',
    'GW_GRID_REFRESH_S',
    'GW_GRID_RESTATE_EARLIER',
    'GW_GRID_SOURCES',
    'GW_GRID_WATTTIME_LOCAL',
    'GW_GRID_WATTTIME_PASSWORD',
    'GW_GRID_WATTTIME_URL',
    'GW_GRID_WATTTIME_USER',
    'GW_INTEGRITY_CHECK_S',
    'GW_INTEGRITY_FULL_CHECK_S',
    'GW_LEDGER_ENTRY_KEYS_PREVIOUS',
    'GW_LEDGER_KEY',
    'GW_LEDGER_KEYS_PREVIOUS',
    'GW_LEDGER_KEY_ID',
    'GW_LOG_WITNESSES',
    'GW_NAMES_KEY',
    'GW_NAMES_KEYS_PREVIOUS',
    'GW_NAMES_KEY_ID',
    'GW_OBJECTS_ACCESS_KEY',
    'GW_OBJECTS_BUCKET',
    'GW_OBJECTS_DIR',
    'GW_OBJECTS_REGION',
    'GW_OBJECTS_SECRET_KEY',
    'GW_OBJECTS_URL',
    'GW_OIDC_CLAIM',
    'GW_OIDC_CLIENT_ID',
    'GW_OIDC_CLIENT_SECRET',
    'GW_OIDC_ISSUER',
    'GW_ONBOARDING_IDLE_DAYS',
    'GW_PROBE_LISTEN',
    'GW_PUBLIC_LISTEN',
    'GW_SANCTIONS_FILES',
    'GW_SANCTIONS_THRESHOLD_PERCENT',
    'GW_TLS_CERT_FILE',
    'GW_USE_POLICY_FILE',
  ],
  envoy: [
    ...addresses,
    ...internalTls,
    'GW_ACCESS_LOG',
    'GW_AUTHZ_LISTEN',
    'GW_CONNECTION_IDLE_TIMEOUT_S',
    'GW_CONTROL_INTERNAL_LISTEN',
    'GW_CORS_ORIGINS',
    'GW_ENVOY_ADMIN_SOCKET',
    'GW_ENVOY_MAX_HEAP_MB',
    'GW_EVIDENCE_PUBLIC_KEYS',
    'GW_LEASES',
    'GW_MAX_CONNECTIONS',
    'GW_MAX_CONNECTIONS_PER_ADDRESS',
    'GW_NODE_ID',
    'GW_PROBE_LISTEN',
    'GW_PROXY_PROTOCOL',
    'GW_PUBLIC_LISTEN',
    'GW_REPLY_END_MODULE',
    'GW_SIDECAR_LISTEN',
    'GW_SIDECAR_TIMEOUT_MS',
    'GW_STREAM_IDLE_TIMEOUT_S',
    'GW_TLS_CERT_FILE',
    'GW_TLS_KEY_FILE',
    'GW_TRUSTED_PROXIES',
  ],
  'envoy-image': ['GW_ENVOY_ADMIN_SOCKET', 'GW_ENVOY_DRAIN_NOTICE_S', 'GW_ENVOY_DRAIN_S', 'GW_INTERNAL_TOKEN'],
  migrate: [
    'GW_DATABASE_PASSWORD_CATALOGUE',
    'GW_DATABASE_PASSWORD_CUSTOMERS',
    'GW_DATABASE_PASSWORD_EXT_AUTHZ',
    'GW_DATABASE_PASSWORD_LEDGER',
    'GW_DATABASE_PASSWORD_PEOPLE',
    'GW_DATABASE_PASSWORD_READER',
    'GW_DATABASE_ROLE_PREFIX',
    'GW_DATABASE_URL',
    'GW_KEY_PEPPER',
    'GW_KEY_PEPPER_VERSION',
    'GW_PROVIDER_CREDENTIAL_REF',
    'GW_PROVIDER_GRID_ZONE',
    'GW_PROVIDER_MODELS',
    'GW_PROVIDER_URL',
    'GW_SEED',
    'GW_SEED_FILE',
    'GW_SIM_URL',
  ],
  simulator: ['GW_SIM_LISTEN'],
};

/** The commands of `./gw` read these; a shell that has them also starts gateways. */
export const settingsOfCommands: readonly string[] = [
  'GW_DIR',
  'GW_ENVOY_BIN',
  'GW_KEY',
  'GW_OPERATOR_CODE',
  'GW_OPERATOR_CREDENTIAL',
  'GW_OPERATOR_EMAIL',
  'GW_OPERATOR_TOKEN',
  'GW_POSTGRES_BIN',
  'GW_PROVIDER_KEY',
  'GW_VALKEY_BIN',
];
/** True for the settings of the tests and of the benchmarks. */
export const isOfTests = (name: string): boolean => /^GW_(TEST|CHAOS|SOAK|BENCH|AIGW)_/.test(name);

/** `GW_CREDENTIAL_<NAME>`, for the control plane. */
export const isCredential = (name: string): boolean => /^GW_CREDENTIAL_./.test(name);

/** True for what Kubernetes tells each pod of a service whose name begins with `gw-`. */
export const isOfKubernetes = (name: string): boolean =>
  /_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$|_PORT(_\d+_(TCP|UDP)(_(ADDR|PORT|PROTO))?)?$/.test(name);

/** The settings that docker-compose.yml gives to no container, with the reason. */
export const notInCompose: Readonly<Record<string, string>> = {
  GW_INTERNAL_TLS_CERT_FILE: 'Envoy and the services talk over Unix sockets',
  GW_INTERNAL_TLS_KEY_FILE: 'Envoy and the services talk over Unix sockets',
  GW_INTERNAL_TLS_CA_FILE: 'Envoy and the services talk over Unix sockets',
  GW_CONTROL_HEALTH_LISTEN: "its probe asks the operators' port",
  GW_ACCESS_LOG: 'containers log to standard output',
  GW_NODE_ID: 'there is one Envoy',
  GW_DATABASE_ROLE_PREFIX: 'the database is its own',
  GW_PROVIDER_URL: 'providers are added by the operator API',
  GW_PROVIDER_MODELS: 'providers are added by the operator API',
  GW_PROVIDER_GRID_ZONE: 'providers are added by the operator API',
  GW_PROVIDER_CREDENTIAL_REF: 'providers are added by the operator API',
};

/** docker-compose.yml reads these itself, from `.env`. No container gets them. */
export const settingsOfCompose: readonly string[] = [
  'GW_DOMAIN',
  'GW_ENVOY_MEMORY',
  'GW_OPERATOR_DOMAIN',
  'GW_OPERATOR_PORT',
  'GW_PAIRS',
  'GW_POSTGRES_MEMORY',
  'GW_PROMETHEUS_PORT',
  'GW_PUBLIC_ADDRESS',
  'GW_PUBLIC_PORT',
  'GW_SIDECAR_MEMORY',
  'GW_TLS_DIR',
  'GW_VALKEY_MAXMEMORY',
  'GW_VALKEY_MEMORY',
];
