import type { Upstream } from '../upstreams/index.ts'
import type { PassedResult } from './compiled-server.ts'

/** Ours, of a result: where the caller connects an account of theirs. */
const META_CONNECT = 'patchbay/connect'

/** What a call answers whose caller has first to connect an account of theirs: in words, and for programs in `_meta`. */
export const connectResult = (text: string, { name }: Pick<Upstream, 'name'>, url: string): PassedResult => ({
  passed: { content: [{ type: 'text', text }], isError: true, _meta: { [META_CONNECT]: { upstream: name, url } } },
})
