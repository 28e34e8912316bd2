import { abortProblem, type Problem, type ToError, timeoutProblem, tooLargeProblem } from './faults.ts'
import type { Hop } from './hop.ts'
import type { InProcessOrigin, OutboundRequest, OutboundResponse } from './http-client.ts'
import { armStops } from './stops.ts'

export type InProcessOptions = Pick<OutboundRequest, 'timeoutMs' | 'maxResponseBytes' | 'signal'> & { toError: ToError }

/** One request that an origin inside this process answers, within the limits of any other. */
export const answerInProcess = (
  origin: InProcessOrigin,
  { target, method, configured, body }: Hop,
  { toError, timeoutMs, maxResponseBytes, signal }: InProcessOptions,
): Promise<OutboundResponse> =>
  new Promise((resolve, reject) => {
    const { host, url } = target
    const fail = (problem: Problem): void => reject(toError(problem))
    const disarm = armStops(timeoutMs, signal, why =>
      fail(why === 'timeout' ? timeoutProblem(host, 'sent') : abortProblem),
    )
    const answered = (response: OutboundResponse): void => {
      disarm()
      if (response.body.length <= maxResponseBytes) resolve({ ...response, url })
      else fail(tooLargeProblem(host, maxResponseBytes))
    }
    const failed = (cause: unknown): void => {
      disarm()
      fail({ fault: 'reset', text: `${host} failed to answer`, cause })
    }
    origin({ method, url, headers: configured, body, timeoutMs, maxResponseBytes, signal }).then(answered, failed)
  })
