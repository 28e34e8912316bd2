import type { Upstream } from '../upstreams/upstream.ts'
import type { PassedResult } from './call/tool-result.ts'

/** Key in `_meta` of a result: where the caller connects an account. */
const META_CONNECT = 'patchbay/connect'

/** Returns the result for a caller who must first connect an account: as text, and in `_meta` for programs. */
export const connectResult = (text: string, { name }: Pick<Upstream, 'name'>, url: string): PassedResult => ({
  passed: { content: [{ type: 'text', text }], isError: true, _meta: { [META_CONNECT]: { upstream: name, url } } },
})
