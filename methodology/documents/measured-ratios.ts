/**
 * How far what was measured can be from the model of writing, as ratios: below and above, of the energy and of the time. For each kind of
 * model and of what is stated of its deployment, 5 % of the configurations lie beyond each (scripts/coverage.ts).
 *
 * Invariant: what is known less has ratios that are no smaller. `other`: accelerators that nobody stated or measured, which have
 * `other_hardware_ratio` beside it; `any`: nobody knows the architecture. Where nobody states the bits, they can be those of the value: the dense
 * configurations all have 16, so by themselves they would leave out half of what is served.
 */
const accelerators = ['h100', 'b200'] as const;
/** All parameters work on each token, or it is a mixture of experts. */
const architectures = ['dense', 'sparse'] as const;
const stated = ['both', 'concurrency', 'bits', 'neither'] as const;

type Stated = (typeof stated)[number];
type Measured = `${(typeof accelerators)[number]}_${(typeof architectures)[number]}_${Stated}`;
export type Serving = `${(typeof accelerators)[number] | 'other'}_${(typeof architectures)[number] | 'any'}_${Stated}`;

/** Least and most of the energy, least and most of the time. */
export type Ratios = readonly [least: number, most: number, timeLeast: number, timeMost: number];

/** The ratios as measured; the others follow from them. */
export const ofConfigurations: Readonly<Record<Measured, Ratios>> = {
  h100_dense_both: [1.23, 1.25, 1.18, 1.2],
  h100_dense_concurrency: [1, 1.55, 1, 1.65],
  h100_dense_bits: [2.25, 3.3, 2.29, 4.16],
  h100_dense_neither: [1.56, 4.35, 1.5, 5.95],
  h100_sparse_both: [1.43, 1.42, 1.44, 1.95],
  h100_sparse_concurrency: [1.38, 2.04, 1.19, 3.31],
  h100_sparse_bits: [2.61, 3.18, 2.52, 4.5],
  h100_sparse_neither: [2.64, 4.57, 2.75, 6.78],
  b200_dense_both: [1.87, 1.07, 2.44, 1.77],
  b200_dense_concurrency: [1.77, 1.51, 2.12, 2.64],
  b200_dense_bits: [4.06, 2.94, 7.46, 4.15],
  b200_dense_neither: [2.87, 3.63, 4.57, 4.74],
  b200_sparse_both: [1.4, 4.21, 1.99, 2.57],
  b200_sparse_concurrency: [1.44, 4.21, 1.57, 2.66],
  b200_sparse_bits: [4.72, 4.12, 8.52, 3.13],
  b200_sparse_neither: [3.87, 4.8, 5.33, 4.27],
};

/** Adds the bits to what is stated. */
const withBits = { neither: 'bits', bits: 'bits', concurrency: 'both', both: 'both' } as const;

const largest = (rows: readonly Ratios[]): Ratios =>
  [0, 1, 2, 3].map((at) => Math.max(...rows.map((row) => row[at] ?? 1))) as unknown as Ratios;

export const measuredRatios = Object.fromEntries(
  ([...accelerators, 'other'] as const).flatMap((accelerator) =>
    ([...architectures, 'any'] as const).flatMap((architecture) =>
      stated.map((what) => {
        const rows = (accelerator === 'other' ? accelerators : [accelerator]).flatMap((each) =>
          (architecture === 'any' ? architectures : [architecture]).flatMap((of) =>
            [what, withBits[what]].map((stated) => ofConfigurations[`${each}_${of}_${stated}`]),
          ),
        );
        return [`${accelerator}_${architecture}_${what}`, largest(rows)];
      }),
    ),
  ),
) as unknown as Readonly<Record<Serving, Ratios>>;
