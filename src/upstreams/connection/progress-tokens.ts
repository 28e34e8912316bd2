import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'

/** Receives the params of `notifications/progress` without the token. */
export type OnProgress = (params: JsonObject) => void

/** Routes the progress of each request on a connection to its caller, by tokens of our own. */
export const createProgressTokens = () => {
  const listeners = new Map<string, OnProgress>()
  let last = 0
  return {
    /** Returns a token for one request, and a function to stop listening. */
    add: (listener: OnProgress): { token: string; stop: () => void } => {
      const token = `p${++last}`
      listeners.set(token, listener)
      return { token, stop: () => void listeners.delete(token) }
    },
    /** Ignores unknown tokens: their requests are complete. */
    dispatch: (params: unknown): void => {
      if (!isJsonObject(params)) return
      const { progressToken, _meta, ...step } = params
      if (typeof progressToken === 'string') listeners.get(progressToken)?.(step)
    },
  }
}
