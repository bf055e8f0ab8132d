/** The filter that ends a reply in order whose provider does not: reply-end/filter.c. */
import { replyEndMs } from '@gw/contract/internal/reply-end';
import { typed } from './typed.ts';

const nothing = typed('envoy.extensions.filters.http.header_mutation.v3.HeaderMutation');

/** `module`: the compiled filter; null: there is none, and a filter that does nothing takes its place. */
export const replyEndFilter = (module: string | null): object => ({
  name: 'reply_end',
  typed_config:
    module === null
      ? nothing
      : typed('envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilter', {
          // Its thread runs as long as Envoy does.
          dynamic_module_config: { module: { local: { filename: module } }, do_not_close: true },
          filter_name: 'reply_end',
          filter_config: typed('google.protobuf.StringValue', { value: String(replyEndMs) }),
        }),
});
