/** How many random cases the tests of properties try, and how often loops of chance run: one setting for all of them. */

/** `./gw test long` tries as many as `many`; all other runs a tenth of that, but at least 50, or `few`. */
export const cases = (many: number, few = Math.min(many, Math.max(50, Math.ceil(many / 10)))): number =>
  process.env.GW_TEST_CASES === 'many' ? many : few;
