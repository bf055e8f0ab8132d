/** Runs the program of a calculation. */
import { type Calculation, programName } from '../choice/calculation.ts';
import type { MethodologyId } from '../documents/methodologies.ts';
import type { Inputs } from '../facts/inputs.ts';
import { programs as ecologits } from '../generated/ecologits-0.11.3.ts';
import { programs as own14 } from '../generated/gw-1.4.ts';
import { programs as own15 } from '../generated/gw-1.5.ts';
import type { Program, Results, Trace } from '../generated/receipt.ts';

const programs: Readonly<Record<MethodologyId, Readonly<Record<string, Program>>>> = {
  'gw-1.5': own15,
  'gw-1.4': own14,
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
