import { Eta, type EtaConfig } from 'eta'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../../kernel/actor.ts'

export type ViewOptions = {
  /** The folder of the templates: layouts/, parts/, errors/ and one folder a feature. */
  viewsDirectory: string
  version: string
  /** Templates are read anew for each page, so that an edit shows at once. */
  isDevelopment: boolean
  /** Where pages find what they load, by its path in `public/`. */
  assets: Readonly<Record<string, string>>
}

const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]
const THEME_COOKIE = 'theme'
const ONE_YEAR_SECONDS = 365 * 24 * 60 * 60

/** The scheme of colours that the switch was last set to; the system's where it never was, or is not read yet. */
const themeOf = (request: FastifyRequest): Theme =>
  THEMES.find(theme => theme === request.cookies?.[THEME_COOKIE]) ?? 'system'

/** Remembers the choice in this browser. */
export const keepTheme = (reply: FastifyReply, chosen: string, isHttps: boolean): void => {
  const theme = THEMES.find(known => known === chosen) ?? 'system'
  reply.setCookie(THEME_COOKIE, theme, { path: '/', maxAge: ONE_YEAR_SECONDS, sameSite: 'lax', secure: isHttps })
}

/** Whether htmx asks for a part of the page that it shows; without it the same address answers the whole page. */
export const isFragmentRequest = ({ headers }: FastifyRequest): boolean =>
  headers['hx-request'] === 'true' && headers['hx-history-restore-request'] !== 'true'

/** What every page is given besides its own data, as `it.page`. */
export type PageFrame = {
  version: string
  /** Undefined for strangers. */
  user: Pick<Actor, 'userId' | 'email' | 'isOperator'> | undefined
  /** For the hidden field `_csrf` of every form; undefined for strangers, in whose name nothing is done. */
  csrfToken: string | undefined
  theme: Theme
  /** The path and query of this page: where the switch of colours comes back to. */
  address: string
  assets: Readonly<Record<string, string>>
}

export type PageAnswer = {
  status?: number
  /** Where the page's forms may lead, besides here, as CSP sources: browsers hold redirects to it as well. */
  formTargets?: readonly string[]
}

/** What a page shows, and of its frame: its name, its place in the menu, its width, what it loads besides the rest. */
export type PageData = {
  title: string
  section?: 'servers' | 'toolkits' | 'organizations' | 'account' | 'operator'
  /** `narrow` for forms and accounts. */
  width?: 'narrow'
  /** Modules of `public/js/`, without their ending. */
  scripts?: readonly string[]
} & Record<string, unknown>

declare module 'fastify' {
  interface FastifyReply {
    /** Answers with the page made of `views/<view>.eta` and `data` (see `PageData`). */
    page(view: string, data: PageData, answer?: PageAnswer): FastifyReply
    /** Answers with a part of a page, for `isFragmentRequest`: the same, without a layout. */
    fragment(view: string, data: Record<string, unknown>, status?: number): FastifyReply
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

/**
 * Gives a part exactly what its `include` names, and the frame as `page`. Left alone, Eta adds whatever the page around
 * it was given: a page with a `name`, an `id` or a `value` would change every field on it.
 */
const givenOwnDataOnly: EtaConfig['plugins'][number] = {
  processAST: template => [
    { t: 'e', val: 'include = (path, own) => this.render(path, { ...own, page: it.page }, options)' },
    ...template,
  ],
}

/** Gives the replies of this scope their `page` and `fragment`. To be set up before the sessions are read. */
export const renderViews = (app: FastifyInstance, options: ViewOptions): void => {
  const { viewsDirectory, version, isDevelopment, assets } = options
  const eta = new Eta({
    views: viewsDirectory,
    cache: !isDevelopment,
    autoEscape: true,
    autoTrim: false,
    plugins: [givenOwnDataOnly],
  })
  const frameOf = (reply: FastifyReply): PageFrame => {
    const { request } = reply
    const { actor, signedInBy } = request
    const isSignedIn = actor !== undefined && signedInBy === 'session'
    return {
      version,
      user: isSignedIn ? { userId: actor.userId, email: actor.email, isOperator: actor.isOperator } : undefined,
      csrfToken: isSignedIn ? reply.generateCsrf() : undefined,
      theme: themeOf(request),
      address: request.method === 'GET' ? request.url : '/',
      assets,
    }
  }
  app.decorateReply('page', function page(this: FastifyReply, view, data, { status, formTargets = [] } = {}) {
    return this.code(status ?? this.statusCode)
      .header('content-security-policy', contentSecurityPolicy(formTargets))
      .type('text/html; charset=utf-8')
      .send(eta.render(view, { ...data, page: frameOf(this) }))
  })
  app.decorateReply('fragment', function fragment(this: FastifyReply, view, data, status) {
    return this.code(status ?? this.statusCode)
      .header('content-security-policy', contentSecurityPolicy([]))
      .type('text/html; charset=utf-8')
      .send(eta.render(view, { ...data, page: frameOf(this) }))
  })
}
