/**
 * The three EcoLogits indicators of making hardware: climate (GWP), mineral resources (ADPe), primary energy (PE).
 *
 * Only the first is in a receipt. The other two are for lineage, and not without a warning: the primary-energy factors
 * of several grids in the source lie below the physical minimum of 3.6 MJ per kWh.
 */
import { embodied, serving } from './factors.ts';

export interface Indicators {
  readonly gwpKg: number;
  readonly adpeKgSb: number;
  readonly peMj: number;
}

/** One GPU with its share of the server; EcoLogits' `server_gpu_embodied_*` is this times the number of GPUs. */
export const embodiedPerGpu: Indicators = {
  gwpKg: embodied.serverGwpKg / serving.serverGpus + embodied.gpuGwpKg,
  adpeKgSb: embodied.serverAdpeKgSb / serving.serverGpus + embodied.gpuAdpeKgSb,
  peMj: embodied.serverPeMj / serving.serverGpus + embodied.gpuPeMj,
};

/** The share of making the hardware that falls on this many GPU-seconds of its life. */
export function embodiedOf(acceleratorS: number): Indicators {
  const share = acceleratorS / embodied.lifespanS;
  return {
    gwpKg: share * embodiedPerGpu.gwpKg,
    adpeKgSb: share * embodiedPerGpu.adpeKgSb,
    peMj: share * embodiedPerGpu.peMj,
  };
}
