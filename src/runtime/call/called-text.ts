import type { StoredExecution } from '../../history/executions.store.ts'

/** Returns the name of the called tool, or the method and path of a passthrough request. */
export const calledText = ({ tool, request }: Pick<StoredExecution, 'tool' | 'request'>): string =>
  tool === '' && request !== undefined ? `${request.method} ${URL.parse(request.url)?.pathname ?? ''}` : tool
