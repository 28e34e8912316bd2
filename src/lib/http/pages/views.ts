import { Eta, type EtaConfig } from 'eta'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../../kernel/actor.ts'

export type ViewOptions = {
  /** Folder of the templates: layouts/, parts/, errors/ and one folder per feature. */
  viewsDirectory: string
  version: string
  /** Whether templates are read again for each page, so that edits appear at once. */
  isDevelopment: boolean
  /** URLs of the assets by their path in `public/`. */
  assets: Readonly<Record<string, string>>
}

const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]
const THEME_COOKIE = 'theme'
const ONE_YEAR_SECONDS = 365 * 24 * 60 * 60

/** Returns the user's chosen theme. Defaults to the system theme, including before cookies are parsed. */
const themeOf = (request: FastifyRequest): Theme =>
  THEMES.find(theme => theme === request.cookies?.[THEME_COOKIE]) ?? 'system'

const keepPreference = (reply: FastifyReply, name: string, value: string, isHttps: boolean): void => {
  reply.setCookie(name, value, { path: '/', maxAge: ONE_YEAR_SECONDS, sameSite: 'lax', secure: isHttps })
}

/** Stores the chosen theme in a cookie. */
export const keepTheme = (reply: FastifyReply, chosen: string, isHttps: boolean): void => {
  const theme = THEMES.find(known => known === chosen) ?? 'system'
  keepPreference(reply, THEME_COOKIE, theme, isHttps)
}

const SINGLE_KEYS_COOKIE = 'single-keys'
const hasSingleKeys = (request: FastifyRequest): boolean => request.cookies?.[SINGLE_KEYS_COOKIE] !== 'off'

/** Stores in a cookie whether keys without a modifier do something. */
export const keepSingleKeys = (reply: FastifyReply, isOn: boolean, isHttps: boolean): void =>
  keepPreference(reply, SINGLE_KEYS_COOKIE, isOn ? 'on' : 'off', isHttps)

/** Returns whether htmx is requesting a fragment. Other requests for the same URL get the whole page. */
export const isFragmentRequest = ({ headers }: FastifyRequest): boolean =>
  headers['hx-request'] === 'true' && headers['hx-history-restore-request'] !== 'true'

/** Frame data passed to every page as `it.page`, in addition to the page's own data. */
export type PageFrame = {
  version: string
  /** Undefined if nobody is signed in. */
  user: (Pick<Actor, 'userId' | 'email' | 'isOperator' | 'isUnconfirmed'> & { initials: string }) | undefined
  /** Value of the hidden field `_csrf` in each form. Undefined if nobody is signed in. */
  csrfToken: string | undefined
  theme: Theme
  /** Whether keys without a modifier do something (WCAG 2.2, 2.1.4). */
  hasSingleKeys: boolean
  /** Path and query of this page, for returning to it after the theme is changed. */
  address: string
  assets: Readonly<Record<string, string>>
}

export type PageResponse = {
  status?: number | undefined
  /** CSP sources other than this origin to which forms may lead: browsers also check redirects after a form. */
  formTargets?: readonly string[]
}

/** A page's own data and the data for its frame: title, menu section, width, and additional scripts. */
export type PageData = {
  title: string
  section?: 'servers' | 'toolkits' | 'organizations' | 'account' | 'operator'
  /** Use `narrow` for forms and account pages, and `wide` for pages with two columns of tools. */
  width?: 'narrow' | 'wide'
  /** Names of modules in `public/js/`, without extension. */
  scripts?: readonly string[]
} & Record<string, unknown>

declare module 'fastify' {
  interface FastifyReply {
    /** Renders and sends the page `views/<view>.eta`. */
    page(view: string, data: PageData, response?: PageResponse): FastifyReply
    /** Renders and sends a fragment in response to a request that satisfies `isFragmentRequest`. */
    fragment(view: string, data: Record<string, unknown>, status?: number): FastifyReply
  }
}

/**
 * Builds a CSP Level 3 policy that allows loading from this origin only, and forbids inline scripts, inline styles and
 * framing.
 */
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
 * Passes to a partial only the data given in its `include`, plus the frame as `page`. By default, Eta also passes all
 * of the page's data, so the page's `name`, `id` or `value` would appear in all of its form fields.
 */
const givenOwnDataOnly: EtaConfig['plugins'][number] = {
  processAST: template => [
    { t: 'e', val: 'include = (path, own) => this.render(path, { ...own, page: it.page }, options)' },
    ...template,
  ],
}

/** Returns one or two letters for a user, such as `MO` for `mara.okonjo@example.com`. */
const initialsOf = (email: string): string => {
  const words = (email.split('@')[0] ?? '').split(/[^\p{L}\p{N}]+/u).filter(word => word !== '')
  const letters = words.slice(0, 2).map(word => [...word][0] ?? '')
  return letters.join('').toUpperCase() || '?'
}

const userOf = ({ userId, email, isOperator, isUnconfirmed }: Actor) => ({
  userId,
  email,
  isOperator,
  isUnconfirmed,
  initials: initialsOf(email),
})

/** Adds `page` and `fragment` to the replies of this scope. Call before setting up sessions. */
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
      user: isSignedIn ? userOf(actor) : undefined,
      csrfToken: isSignedIn ? reply.generateCsrf() : undefined,
      theme: themeOf(request),
      hasSingleKeys: hasSingleKeys(request),
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
