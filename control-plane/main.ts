import { runService } from '@gw/service/process';
import { loadConfig } from './config.ts';
import { startControlPlane } from './start.ts';

await runService(async () => {
  const { leave, log, stop } = await startControlPlane(loadConfig(process.env));
  return { log, stop: () => leave().then(stop) };
});
