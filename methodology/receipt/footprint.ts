/** The part of a call's carbon that does not depend on the grid, so that any intensity can be applied to it. */
import type { Impact } from '../generated/receipt.ts';

export interface Footprint {
  readonly energyWh: number;
  /** Null if the boundary excludes the making of the hardware. */
  readonly embodiedG: number | null;
}

type Parts = Pick<Impact, 'carbon_embodied_g'> & { readonly energy_wh: number | null };

export const footprintOf = ({ carbon_embodied_g: embodiedG, energy_wh: energyWh }: Parts): Footprint | null =>
  energyWh === null ? null : { energyWh, embodiedG };

/** Returns grams with the twelve digits of a receipt's numbers. `gPerKwh`: of the grid. */
export function gramsOf({ embodiedG, energyWh }: Footprint, gPerKwh: number): number {
  const operationG = (energyWh / 1000) * gPerKwh;
  return Number((embodiedG === null ? operationG : operationG + embodiedG).toPrecision(12));
}
