/** Runs the program of a calculation. */
import { type Calculation, programName } from '../choice/calculation.ts';
import type { MethodologyId } from '../documents/methodologies.ts';
import type { Inputs } from '../facts/inputs.ts';
import { programs as ecologits } from '../generated/ecologits-0.11.3.ts';
import { programs as own } from '../generated/gw-2.0.ts';
import type { Program, Results, Trace } from '../generated/receipt.ts';

const programs: Readonly<Record<MethodologyId, Readonly<Record<string, Program>>>> = {
  'gw-2.0': own,
  'ecologits-0.11.3': ecologits,
};

export function run(
  methodology: MethodologyId,
  calculation: Calculation,
  inputs: Inputs,
  trace: Trace | null = null,
): Results {
  const program = programs[methodology][programName(calculation)];
  if (program === undefined) throw new TypeError(`${methodology} has no program ${programName(calculation)}`);
  return program(inputs, calculation, trace);
}
