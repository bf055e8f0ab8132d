/** The names of steps that both kinds of plan choose from. */

/** The key of a formula, and the run in which it is evaluated where there are several. */
export interface Chosen {
  readonly program: string;
  readonly run: string | null;
}

export const works = ['accelerator_energy', 'host_energy', 'accelerator_time'];

export const once = (program: string): Chosen => ({ program, run: null });
/** The parameters of a class, in a run that has one of its ends. */
export const sizesOfClass = (run: string): Chosen[] =>
  ['active', 'total'].map((which) => ({ program: `P_${which}/class_${run}`, run }));
/** The same step for the value and its two bounds, each with its own variant. */
export const bounded = (id: string, central: string, low: string, high: string): Chosen[] => [
  once(id + central),
  { program: id + low, run: 'low' },
  { program: id + high, run: 'high' },
];
