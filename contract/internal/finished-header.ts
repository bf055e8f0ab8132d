/**
 * Marks a JSON reply that the sidecar has finished, for degraded.lua, which removes it. Reading a header costs a twentieth of reading
 * metadata. A header of this name from a provider is removed before the sidecar sees it.
 */
export const finishedHeader = 'x-gw-finished';
