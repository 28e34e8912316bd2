import type { StoredExecution } from '../../history/executions.store.ts'

/** Names the called tool, or the request that was passed on. */
export const calledText = ({ tool, request }: Pick<StoredExecution, 'tool' | 'request'>): string =>
  tool === '' && request !== undefined ? `${request.method} ${URL.parse(request.url)?.pathname ?? ''}` : tool
