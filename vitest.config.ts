/**
 * Six kinds of tests: `fast` needs nothing but Node; `stores` (`*.pg.test.ts`) shares a Postgres, and a Valkey for each
 * worker; `stack` (`test/**`) runs against whole gateways, of which each worker has one (`GW_TEST_GATEWAYS`, 1 by
 * default); `own` runs beside it and has those that start an Envoy, and those that break gateways of their own; `slow`
 * (`test/**`, `*.slow.test.ts`) is of the kind of `stack`, and `long` (`test/long`, and `*.long.test.ts` beside the
 * source) takes minutes, with gateways of its own.
 * `./gw test long` runs the last three, and `fast` and `stores` with many more random cases (`GW_TEST_CASES`, see
 * testing/cases.ts); `./gw test` runs all others.
 */
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const stores = '**/*.pg.test.ts';
const stack = 'test/**/*.test.ts';
const own = [
  // They start an Envoy.
  'envoy/{access-log,authorities,client-address,cors,drain,edge,instances,internal-tls,internal-token,lease,lease-checks,long-replies,provider-address,render,reply-end,tls}.test.ts',
  'test/errors/failing-parts.test.ts',
  'test/{api,chaos,outage}/*.test.ts',
  'test/cli/{broken-start,commands}.test.ts',
];
const slow = ['test/**/*.slow.test.ts'];
const long = ['test/long/**/*.test.ts', '**/*.long.test.ts'];
const exclude = [...configDefaults.exclude, '.gw/**', '.deps/**'];

// Thousands of random cases take their time; otherwise the machine may be busy with something else.
const testTimeout = process.env.GW_TEST_CASES === 'many' ? 600_000 : 60_000;
// Some start a dozen commands one after the other, and a machine may be busy three times over.
const wholeGatewayTimeout = 150_000;
const setupFiles = ['testing/control-plane/reply-check.ts'];
/** As `./gw test long` has it, so that a single file is the same without it. */
const whole = { GW_TEST_CASES: 'many' };
const inOneDay = ['test/one-day.ts'];
// Some files wait more than they compute.
const maxWorkers = 3;
const storeWorkers = 4;
// A third of the time would go on loading the same modules again for each file.
const isolate = false;

/** What takes twenty seconds or more, the longest first: or all others would be done and wait for it. */
const slowest = [
  'test/outage/broken',
  'test/outage/pairs',
  'test/cli/commands',
  'test/errors/failing-parts',
  'test/access/secrets',
  'test/errors/codes',
  'test/evidence/pack',
  'test/limits/limits',
  'test/access/tenants',
  'test/catalogue/region-trouble',
  'service/idempotency/idempotency.pg',
  'control-plane/people/keys/propagation.pg',
  'control-plane/ledger/evidence/jobs.pg',
  'stack/services/services.pg',
  'receipt-sidecar/ledger/writer.pg',
  'envoy/long-replies',
  'envoy/edge',
];
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = slowest.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return at === -1 ? slowest.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

// A second would be the machine's, too.
const patient = { poll: { timeout: 40_000 } };
const ofStores = {
  setupFiles,
  globalSetup: ['testing/stores.ts'],
  testTimeout,
  hookTimeout: 60_000,
  expect: patient,
  maxWorkers: storeWorkers,
  isolate,
};

const ofGateways = {
  globalSetup: ['test/whole-stack.ts'],
  setupFiles: inOneDay,
  testTimeout: wholeGatewayTimeout,
  hookTimeout: 120_000,
  expect: patient,
  maxWorkers: Number(process.env.GW_TEST_GATEWAYS ?? 1),
  isolate,
};

export default defineConfig({
  test: {
    maxWorkers,
    sequence: { sequencer: SlowestFirst },
    // Several runs of vitest go on side by side.
    cache: false,
    projects: [
      {
        test: {
          name: 'fast',
          include: ['**/*.test.ts'],
          exclude: [...exclude, stores, stack, ...own, ...long],
          setupFiles,
          testTimeout,
          expect: patient,
          isolate,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'stores',
          include: [stores],
          exclude: [...exclude, stack],
          ...ofStores,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'stack',
          include: [stack],
          exclude: [...exclude, ...own, ...slow, ...long],
          ...ofGateways,
          sequence: { groupOrder: 2 },
        },
      },
      { test: { name: 'slow', include: slow, exclude, env: whole, ...ofGateways, sequence: { groupOrder: 4 } } },
      {
        test: {
          name: 'own',
          include: own,
          exclude: [...exclude, ...slow, ...long],
          globalSetup: ['test/prepared.ts'],
          setupFiles: inOneDay,
          testTimeout: wholeGatewayTimeout,
          hookTimeout: 120_000,
          expect: patient,
          // They wait for leases, reservations and time-outs more than they compute.
          maxWorkers: 3,
          isolate,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: 'long',
          include: long,
          exclude,
          env: whole,
          testTimeout: 600_000,
          hookTimeout: 120_000,
          fileParallelism: false,
          disableConsoleIntercept: true,
          sequence: { groupOrder: 5 },
        },
      },
    ],
  },
});
