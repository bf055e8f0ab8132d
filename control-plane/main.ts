import { runService } from '@gw/service/process';
import { loadConfig } from './config.ts';
import { startControlPlane } from './start.ts';

await runService(async () => startControlPlane(loadConfig(process.env)));
