/** Filters for every request to a provider: they add the credential and remove our own headers. */
import { refusedFieldsHeader } from '@gw/contract/internal/attempt-headers';
import { finishedHeader } from '@gw/contract/internal/finished-header';
import { firstAttemptHeader, lostSoonHeader, notRepeatedHeader } from '@gw/contract/internal/first-attempt';
import { firstEventHeader } from '@gw/contract/internal/first-event';
import { operatorFaultHeader } from '@gw/contract/internal/operator-faults';
import { requestTimeHeader } from '@gw/contract/internal/overhead';
import {
  atCapacityHeader,
  credentialMissingHeader,
  notReadyHeader,
  unhealthyHeader,
  unreachedHeader,
} from '@gw/contract/internal/snapshot';
import { typed } from './typed.ts';

/** The sidecar and degraded.lua trust these headers of a reply, so a provider's own are removed. */
export const trustedHeaders = [
  credentialMissingHeader,
  atCapacityHeader,
  unhealthyHeader,
  unreachedHeader,
  notReadyHeader,
  operatorFaultHeader,
  firstAttemptHeader,
  lostSoonHeader,
  notRepeatedHeader,
  firstEventHeader,
  finishedHeader,
  requestTimeHeader,
  refusedFieldsHeader,
] as const;

export interface ProviderCredential {
  readonly header: string;
  readonly scheme: string | null;
  readonly secretName: string;
}

export const overwriting = (key: string, value: string) => ({
  header: { key, value },
  append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
});

/** A filter of access logs and local replies. */
export const statusIs = (op: 'GE' | 'EQ', value: number) => ({
  status_code_filter: { comparison: { op, value: { default_value: value, runtime_key: 'gw.unset' } } },
});

export const luaFilter = (script: string): object => ({
  name: 'envoy.filters.http.lua',
  typed_config: typed('envoy.extensions.filters.http.lua.v3.Lua', {
    default_source_code: { inline_string: script },
    // Route matching also uses x-forwarded-proto, which a later filter removes.
    clear_route_cache: false,
  }),
});

export function credentialFilter({ header, scheme, secretName }: ProviderCredential): object {
  return {
    name: 'envoy.filters.http.credential_injector',
    typed_config: typed('envoy.extensions.filters.http.credential_injector.v3.CredentialInjector', {
      overwrite: true,
      // A call without its credential must not reach the provider.
      allow_request_without_credential: false,
      credential: {
        name: 'envoy.http.injected_credentials.generic',
        typed_config: typed('envoy.extensions.http.injected_credentials.generic.v3.Generic', {
          credential: {
            name: secretName,
            sds_config: {
              resource_api_version: 'V3',
              api_config_source: {
                api_type: 'REST',
                transport_api_version: 'V3',
                cluster_names: ['control_plane'],
                refresh_delay: '1s',
                request_timeout: '2s',
              },
              // Longer than the instances of the control plane need to agree.
              initial_fetch_timeout: '5s',
            },
          },
          header,
          ...(scheme ? { header_value_prefix: `${scheme} ` } : {}),
        }),
      },
    }),
  };
}

/** Removes our headers; the sidecar has already removed everything outside the allow-list. `more` has further mutations. */
export function cleanUpFilter(
  kind: 'simulator' | 'openai',
  more: { readonly request?: readonly object[]; readonly response?: readonly object[] } = {},
): object {
  const prefixes = ['x-gw-', 'x-envoy-', 'x-forwarded-', ...(kind === 'simulator' ? [] : ['x-sim-'])];
  return {
    name: 'envoy.filters.http.header_mutation',
    typed_config: typed('envoy.extensions.filters.http.header_mutation.v3.HeaderMutation', {
      mutations: {
        request_mutations: [
          ...prefixes.map((prefix) => ({ remove_on_match: { key_matcher: { prefix, ignore_case: true } } })),
          { remove: 'x-request-id' },
          ...(more.request ?? []),
        ],
        ...(more.response ? { response_mutations: more.response } : {}),
      },
    }),
  };
}
