import { runService } from '@gw/service/process';
import { loadConfig } from './config.ts';
import { startSidecar } from './start.ts';

await runService(async () => startSidecar(loadConfig(process.env)));
