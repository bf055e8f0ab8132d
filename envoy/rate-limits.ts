/** What Envoy tells ext-authz of a call when it asks about its limits: whose it is, what the limits are, what it draws on. */
import { identityNamespace, missingIdentity } from '@gw/contract/internal/identity';

/** Of a body whose bytes count: that it does, and its length, if the client says one. */
export const bodyActions = [
  { generic_key: { descriptor_key: 'body', descriptor_value: 'counts' } },
  { request_headers: { header_name: 'content-length', descriptor_key: 'content_length', skip_if_absent: true } },
];

export function rateLimits(kind: string, more: readonly object[] = []): object[] {
  // Without a default Envoy would not ask at all where the metadata is missing, and the call would have no limit.
  const fromIdentity = (key: string) => ({
    metadata: {
      descriptor_key: key,
      metadata_key: { key: identityNamespace, path: [{ key }] },
      default_value: missingIdentity,
    },
  });
  return [
    {
      actions: [
        fromIdentity('account_id'),
        fromIdentity('limits'),
        { generic_key: { descriptor_key: 'kind', descriptor_value: kind } },
        ...more,
      ],
    },
  ];
}
