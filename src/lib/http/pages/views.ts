import { Eta, type EtaConfig } from 'eta'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../../kernel/actor.ts'

export type ViewOptions = {
  /** Folder of the templates: layouts/, parts/, errors/ and one folder per feature. */
  viewsDirectory: string
  version: string
  /** In development templates are read for every page, so that edits show at once. */
  isDevelopment: boolean
  /** URL of each asset, by its path in `public/`. */
  assets: Readonly<Record<string, string>>
}

const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]
const THEME_COOKIE = 'theme'
const ONE_YEAR_SECONDS = 365 * 24 * 60 * 60

/** Returns the theme that the user last chose; the system's by default, and before cookies are parsed. */
const themeOf = (request: FastifyRequest): Theme =>
  THEMES.find(theme => theme === request.cookies?.[THEME_COOKIE]) ?? 'system'

/** Stores the chosen theme in a cookie. */
export const keepTheme = (reply: FastifyReply, chosen: string, isHttps: boolean): void => {
  const theme = THEMES.find(known => known === chosen) ?? 'system'
  reply.setCookie(THEME_COOKIE, theme, { path: '/', maxAge: ONE_YEAR_SECONDS, sameSite: 'lax', secure: isHttps })
}

/** Returns whether htmx requests a fragment. Without htmx the same URL returns the whole page. */
export const isFragmentRequest = ({ headers }: FastifyRequest): boolean =>
  headers['hx-request'] === 'true' && headers['hx-history-restore-request'] !== 'true'

/** Passed to every page as `it.page`, besides its own data. */
export type PageFrame = {
  version: string
  /** Undefined if nobody is signed in. */
  user: Pick<Actor, 'userId' | 'email' | 'isOperator'> | undefined
  /** For the hidden field `_csrf` of every form. Undefined if nobody is signed in. */
  csrfToken: string | undefined
  theme: Theme
  /** Path and query of this page, to return to after the theme is changed. */
  address: string
  assets: Readonly<Record<string, string>>
}

export type PageResponse = {
  status?: number | undefined
  /** CSP sources that forms may lead to besides this origin: browsers check redirects after a form too. */
  formTargets?: readonly string[]
}

/** A page's own data, and what its frame needs: title, menu section, width, additional scripts. */
export type PageData = {
  title: string
  section?: 'servers' | 'toolkits' | 'organizations' | 'account' | 'operator'
  /** `narrow` is for forms and account pages. */
  width?: 'narrow'
  /** Modules in `public/js/`, without extension. */
  scripts?: readonly string[]
} & Record<string, unknown>

declare module 'fastify' {
  interface FastifyReply {
    /** Sends the page rendered from `views/<view>.eta` with `data` (see `PageData`). */
    page(view: string, data: PageData, response?: PageResponse): FastifyReply
    /** Sends a fragment, rendered without a layout, for `isFragmentRequest`. */
    fragment(view: string, data: Record<string, unknown>, status?: number): FastifyReply
  }
}

/** CSP 3: loads only from this origin, runs no inline script or style, forbids framing. */
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
 * Gives a partial only the data that its `include` passes, and the frame as `page`. By default Eta also passes
 * everything the page has, so a page's own `name`, `id` or `value` would leak into every field on it.
 */
const givenOwnDataOnly: EtaConfig['plugins'][number] = {
  processAST: template => [
    { t: 'e', val: 'include = (path, own) => this.render(path, { ...own, page: it.page }, options)' },
    ...template,
  ],
}

/** Adds `page` and `fragment` to the replies of this scope. Call before sessions are set up. */
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
  const send = (reply: FastifyReply, view: string, data: object, { status, formTargets = [] }: PageResponse) =>
    reply
      .code(status ?? reply.statusCode)
      .header('content-security-policy', contentSecurityPolicy(formTargets))
      .type('text/html; charset=utf-8')
      .send(eta.render(view, { ...data, page: frameOf(reply) }))
  app.decorateReply('page', function page(this: FastifyReply, view, data, response = {}) {
    return send(this, view, data, response)
  })
  app.decorateReply('fragment', function fragment(this: FastifyReply, view, data, status) {
    return send(this, view, data, { status })
  })
}
