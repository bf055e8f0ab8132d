/**
 * Metadata of a call, from the sidecar and the Lua filter to the filter that ends replies (envoy/reply-end/filter.c): the client has got the
 * last of this reply, so it ends if the provider does not end it.
 */
export const replyOver = { over: true } as const;

/** How long the provider may leave its reply open behind that, ms. One that ends it by itself keeps its connection. */
export const replyEndMs = 200;
