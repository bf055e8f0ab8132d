/** The filter between Envoy's router and a provider that gives a failure in a reply with status 200 its status: first-event/filter.as. */
import { firstEventWasm } from './generated/first-event.ts';
import { typed } from './typed.ts';

/** It holds a head by itself, and the body that comes meanwhile. If it fails, replies pass as they are. */
export const firstEventFilter: object = {
  name: 'envoy.filters.http.wasm',
  typed_config: typed('envoy.extensions.filters.http.wasm.v3.Wasm', {
    config: {
      name: 'first_event',
      failure_policy: 'FAIL_OPEN',
      // Else Envoy would hold the body, too, and the filter would never see the first event.
      allow_on_headers_stop_iteration: true,
      vm_config: {
        vm_id: 'first_event',
        runtime: 'envoy.wasm.runtime.v8',
        code: { local: { inline_bytes: firstEventWasm } },
      },
    },
  }),
};
