/** How many random cases the tests of properties try, how often loops of chance run, and which rows of a matrix: one setting for all of them. */

/** `./gw test long`, in which the whole of a matrix has its turn, where `./gw test` has enough of it that each promise is seen to hold. */
export const isLongRun = process.env.GW_TEST_CASES === 'many';

/** `./gw test long` tries as many as `many`; all other runs a tenth of that, but at least 50, or `few`. */
export const cases = (many: number, few = Math.min(many, Math.max(50, Math.ceil(many / 10)))): number =>
  isLongRun ? many : few;

/** The rows of a matrix: all of them in `./gw test long`, in all other runs the first of each kind. */
export const oneOfEach = <Row>(rows: readonly Row[], kindOf: (row: Row) => unknown): readonly Row[] =>
  isLongRun ? rows : [...new Map(rows.toReversed().map((row) => [kindOf(row), row])).values()].toReversed();
