import type { ResponseHeaders } from './answer.ts'
import type { Problem, ToError } from './faults.ts'
import { buildNextHop, type Hop, isRedirect } from './hop.ts'
import { parseRedirectTarget, type TargetCheck } from './target.ts'

export type RedirectOptions<Answer> = {
  /** Sends one request; must refuse what may not be reached. */
  perform: (hop: Hop) => Promise<Answer>
  /** 0 hands every redirect back as the answer that it is. */
  maxRedirects: number
  checkTarget: TargetCheck
  toError: ToError
  /** Lets go of an answer that is only a step on the way. */
  discard?: (answer: Answer) => void
  /** Configured headers, by lower-case name, that go along to another origin too; none if left out. */
  keepsAcrossOrigins?: (lowerCaseName: string) => boolean
}

type Redirectable = { status: number; headers: Readonly<ResponseHeaders> }

export const blocked = (text: string): Problem => ({ fault: 'blocked', text })

const tooManyRedirects = (host: string, maxRedirects: number): Problem => ({
  fault: 'too_many_redirects',
  text: `${host} redirected again after ${maxRedirects} redirects (PATCHBAY_MAX_REDIRECTS); use the final address as the URL`,
})

/** Sends what redirects make of a request that was answered, each passing the checks of the first; answers the last answer. */
export const followRedirects = async <Answer extends Redirectable>(
  first: Hop,
  firstAnswer: Answer,
  { perform, maxRedirects, checkTarget, toError, discard, keepsAcrossOrigins }: RedirectOptions<Answer>,
): Promise<{ answer: Answer; target: Hop['target'] }> => {
  let hop = first
  let answer = firstAnswer
  for (let redirects = 0; ; redirects++) {
    const { target } = hop
    const location = isRedirect(answer.status) ? answer.headers.location : undefined
    if (location === undefined || maxRedirects === 0) return { answer, target }
    discard?.(answer)
    if (redirects === maxRedirects) throw toError(tooManyRedirects(target.host, maxRedirects))
    const to = parseRedirectTarget(target, location, checkTarget)
    const next = to.ok ? buildNextHop(hop, answer.status, to.value, keepsAcrossOrigins) : to
    if (!next.ok) throw toError(blocked(`${target.host} redirected where no request may go: ${next.error}`))
    hop = next.value
    answer = await perform(hop)
  }
}
