/**
 * Conversions between the units of formulas (Wh, s, GPU·s, g, L/kWh) and the units of sources and receipts.
 *
 * Invariant: inside this package energy is in Wh, time in s, carbon in g and water in mL; only these names convert.
 */
export const secondsPerHour = 3600;
export const whPerKwh = 1000;
export const gPerKg = 1000;
export const mlPerL = 1000;
export const msPerMinute = 60_000;
export const parametersPerBillion = 1e9;
export const bitsPerByte = 8;
