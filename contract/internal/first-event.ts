/**
 * Set only by Envoy (envoy/first-event/filter.as) on a reply whose status was 200 and whose first event, or whole body, was a failure: what
 * the provider said. It is empty if the provider said nothing at all. The status is that of the failure, and the body is not read.
 */
export const firstEventHeader = 'x-gw-first-event';
