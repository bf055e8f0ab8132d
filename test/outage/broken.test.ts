/** Suites that break a gateway and mend it again. They share one, since to start a gateway takes longer than most tests. */
import { startGatewayToBreak } from './broken-gateway.ts';
import './services-suite.ts';
import './ends-suite.ts';
import './stores-suite.ts';
import './degraded-receipts-suite.ts';
import './load-suite.ts';

startGatewayToBreak();
