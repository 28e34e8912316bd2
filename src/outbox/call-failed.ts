/** Data of a `call.failed` event. `error` is what the caller was sent, in which secrets are masked. */
export type CallFailedData = {
  executionId: string
  serverId: string
  tool: string
  result: string
  status: number | null
  error: string | null
  durationMs: number
  userId: string | null
  client: string | null
}

/** Fits most errors, and keeps an event small. */
export const MAX_EVENT_ERROR_CHARACTERS = 500
