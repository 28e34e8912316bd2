import { randomBytes } from 'node:crypto'

/** Starts all ids of this process, so that they are unique across processes and restarts. */
const RUN = randomBytes(4).toString('hex')
let count = 0

/** Returns the id of an HTTP request, such as `9f3c01aa-1`. It is in error responses, log lines and the history. */
export const newRequestId = (): string => `${RUN}-${(++count).toString(36)}`

/** The response header with the id. It is ignored in requests, where anybody could set it. */
export const REQUEST_ID = 'x-request-id'
