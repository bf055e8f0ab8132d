/**
 * Envoy's reasons to refuse a request before any other part sees it, as prefixes of `response.code_details`, with the error for the
 * client. The first match applies.
 */
import { type ApiError, apiError } from '@gw/contract/errors';

interface RefusedRequest {
  readonly reasons: readonly string[];
  readonly error: ApiError;
}

const invalid = (message: string, ...reasons: string[]): RefusedRequest => ({
  reasons,
  error: apiError('invalid_request', { message }),
});
const late = (message: string, ...reasons: string[]): RefusedRequest => ({
  reasons,
  error: apiError('request_timeout', { message: `${message} Nothing was sent to a provider.` }),
});

/** Also used for tunnels, which have their own route. */
export const noOtherProtocol = 'The gateway opens no tunnel and changes to no other protocol, such as WebSocket.';

export const refusedRequests: readonly RefusedRequest[] = [
  late('The headers of the request were not whole 10 s after they began.', 'request_header_timeout'),
  late(
    'The request was not whole 60 s after it began. A body of 10 MiB needs a line of 1.4 Mbit/s.',
    'request_overall_timeout',
  ),
  invalid('The request line and the headers are together larger than 32 KiB.', 'http1.headers_too_large'),
  invalid('The request has more than 100 headers.', 'http1.too_many_headers', 'http2.too_many_headers'),
  invalid('The request has no Host header, or none that can be read.', 'missing_host', 'http.invalid_authority'),
  invalid(noOtherProtocol, 'upgrade_failed'),
  invalid(
    'The path of the request is malformed.',
    'path_normalization_failed',
    'absolute_path_rejected',
    'http1.invalid_url',
    'http.invalid_path',
  ),
  invalid(
    'Content-Length and Transfer-Encoding do not say how long the body is: send one of them, and no encoding but chunked.',
    'http1.content_length',
    'http1.invalid_transfer_encoding',
    'http1.transfer_encoding',
  ),
  invalid('No endpoint takes the method QUERY.', 'query_missing_content_type'),
];
