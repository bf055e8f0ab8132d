/**
 * On a JSON reply that the sidecar has finished, for the filter of the last resort, which takes it off: reading it costs a
 * twentieth of reading metadata. What a provider sends under this name is taken off before the sidecar sees it.
 */
export const finishedHeader = 'x-gw-finished';
