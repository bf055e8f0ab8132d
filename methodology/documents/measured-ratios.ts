/**
 * How far what was measured can be from the model of writing, as ratios: below and above, of the energy and of the time. For each kind of
 * model and of what is stated of its deployment, 5 % of the configurations lie beyond each (scripts/coverage.ts).
 *
 * Invariant: what is known less of accelerators and architecture has ratios that are no smaller. `other`: accelerators that nobody stated or measured, which have
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
  h100_dense_both: [1.24, 1.25, 1.19, 1.2],
  h100_dense_concurrency: [1, 1.54, 1, 1.64],
  h100_dense_bits: [2.27, 3.28, 2.31, 4.14],
  h100_dense_neither: [1.57, 4.35, 1.51, 5.95],
  h100_sparse_both: [1.4, 1.4, 1.39, 1.96],
  h100_sparse_concurrency: [1.32, 2.03, 1.2, 3.26],
  h100_sparse_bits: [2.65, 3.13, 2.56, 4.48],
  h100_sparse_neither: [2.67, 4.51, 2.79, 6.73],
  b200_dense_both: [1.87, 1.08, 2.47, 1.76],
  b200_dense_concurrency: [1.76, 1.5, 2.1, 2.63],
  b200_dense_bits: [4.1, 2.93, 7.55, 4.18],
  b200_dense_neither: [2.88, 3.64, 4.6, 4.79],
  b200_sparse_both: [1.36, 4.38, 2.01, 2.65],
  b200_sparse_concurrency: [1.44, 4.38, 1.56, 2.71],
  b200_sparse_bits: [4.8, 4.05, 8.67, 3.09],
  b200_sparse_neither: [3.93, 4.73, 5.39, 4.21],
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
