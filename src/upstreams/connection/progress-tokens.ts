import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'

/** Takes the params of `notifications/progress` without the token. */
export type OnProgress = (params: JsonObject) => void

/** Tells the progress of each request of one connection to whoever made it, by tokens of our own. */
export const createProgressTokens = () => {
  const listeners = new Map<string, OnProgress>()
  let last = 0
  return {
    /** A token for one request, and how to stop hearing. */
    take: (listener: OnProgress): { token: string; stop: () => void } => {
      const token = `p${++last}`
      listeners.set(token, listener)
      return { token, stop: () => void listeners.delete(token) }
    },
    /** Of a token that is none of these, nobody is told: the request is over. */
    tell: (params: unknown): void => {
      if (!isJsonObject(params)) return
      const { progressToken, _meta, ...step } = params
      if (typeof progressToken === 'string') listeners.get(progressToken)?.(step)
    },
  }
}
