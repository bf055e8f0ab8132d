/**
 * Set only by Envoy (envoy/first-event/filter.as) on a reply whose status was 200 and whose first event, or whole body, was a failure: what
 * the provider said. It is empty if the provider said nothing at all. The status is that of the failure, and the body is not read.
 */
export const firstEventHeader = 'x-gw-first-event';
/** Its value where the reply is none of any API: a page of HTML, `null`, a list, a redirect. */
export const unreadableReply = '-';

/**
 * Header of a request to a provider, from the sidecar to that filter, which Envoy then removes: for how long the head of the reply may be
 * held, ms, since the request was sent or since the head came.
 */
export const headPatienceHeader = 'x-gw-head-patience';
export const headPatience = (ms: number, since: 'request' | 'head'): string => `${since}+${ms}`;
