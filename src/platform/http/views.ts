import { Eta } from 'eta'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Actor } from '../../kernel/index.ts'

export type ViewOptions = {
  /** The folder of the templates: layouts/, parts/, errors/ and one folder a feature. */
  viewsDirectory: string
  version: string
  /** Templates are read anew for each page, so that an edit shows at once. */
  isDevelopment: boolean
}

/** What every page is given besides its own data, as `it.page`. */
export type PageFrame = {
  version: string
  /** Undefined for strangers. */
  user: Pick<Actor, 'email' | 'isOperator'> | undefined
  /** For the hidden field `_csrf` of every form; undefined for strangers, in whose name nothing is done. */
  csrfToken: string | undefined
}

export type PageAnswer = {
  status?: number
  /** Where the page's forms may lead, besides here, as CSP sources: browsers hold redirects to it as well. */
  formTargets?: readonly string[]
}

declare module 'fastify' {
  interface FastifyReply {
    /** Answers with the page made of `views/<view>.eta` and `data` (`it.title` names it). */
    page(view: string, data: { title: string } & Record<string, unknown>, answer?: PageAnswer): FastifyReply
  }
}

/** CSP 3: only what comes from here is loaded, no inline script or style runs, nobody frames our pages. */
const contentSecurityPolicy = (formTargets: readonly string[]): string =>
  [
    "default-src 'none'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "script-src 'self'",
    "connect-src 'self'",
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')

/** Gives the replies of this scope their `page`. */
export const renderViews = (app: FastifyInstance, options: ViewOptions): void => {
  const { viewsDirectory, version, isDevelopment } = options
  const eta = new Eta({ views: viewsDirectory, cache: !isDevelopment, autoEscape: true, autoTrim: false })
  app.decorateReply('page', function page(this: FastifyReply, view, data, { status, formTargets = [] } = {}) {
    const { actor, signedInBy } = this.request
    const isSignedIn = actor !== undefined && signedInBy === 'session'
    const frame: PageFrame = {
      version,
      user: isSignedIn ? { email: actor.email, isOperator: actor.isOperator } : undefined,
      csrfToken: isSignedIn ? this.generateCsrf() : undefined,
    }
    return this.code(status ?? this.statusCode)
      .header('content-security-policy', contentSecurityPolicy(formTargets))
      .type('text/html; charset=utf-8')
      .send(eta.render(view, { ...data, page: frame }))
  })
}
