import { runService } from '@gw/service/process';
import { loadConfig } from './config.ts';
import { startExtAuthz } from './start.ts';

await runService(async () => startExtAuthz(loadConfig(process.env)));
