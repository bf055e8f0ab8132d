/** Without this in its environment a bare sidecar does not start, so that nobody is served by it who did not ask for it. */
export const bareVariable = 'GW_BENCH_BARE_SIDECAR';
