/** On replies of providers: the gateway's own time, ms with two decimals. */
export const overheadHeader = 'x-gw-overhead-ms';
/** From Envoy to the sidecar, on a provider's reply: µs from the last byte of the request until its last attempt began. */
export const requestTimeHeader = 'x-gw-request-us';
