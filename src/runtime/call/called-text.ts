import type { StoredExecution } from '../history/index.ts'

/** What was called: a tool, or of a server that passes requests on what it was asked for. */
export const calledText = ({ tool, request }: Pick<StoredExecution, 'tool' | 'request'>): string =>
  tool === '' && request !== undefined ? `${request.method} ${URL.parse(request.url)?.pathname ?? ''}` : tool
