import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { fieldsOf, type Page, type Visitor } from './visitor.ts'

export const CALLBACK = 'http://127.0.0.1/callback'

const Registered = z.looseObject({ client_id: z.string(), client_secret: z.string().optional() })
export type Registered = z.infer<typeof Registered>

/** The response of an endpoint: status, headers and JSON. */
export type Answer = { status: number; headers: Headers; body: Record<string, unknown> }

const toAnswer = async (response: Response): Promise<Answer> => {
  const text = await response.text()
  const body = text === '' ? {} : z.record(z.string(), z.unknown()).parse(JSON.parse(text))
  return { status: response.status, headers: response.headers, body }
}

let addresses = 0
/**
 * Returns a new client address for each registration, which avoids the rate limit. The app must trust loopback as its
 * proxy.
 */
const freshAddress = (): string => `203.0.${113 + Math.floor(++addresses / 250)}.${addresses % 250}`

export const postRegistration = async (
  origin: string,
  metadata: unknown,
  address: string = freshAddress(),
): Promise<Answer> =>
  toAnswer(
    await fetch(`${origin}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
      body: typeof metadata === 'string' ? metadata : JSON.stringify(metadata),
    }),
  )

/** Registers a public client with a loopback redirect. `metadata` overrides the defaults. */
export const registerClient = async (origin: string, metadata: Record<string, unknown> = {}): Promise<Registered> => {
  const said = { client_name: 'Test client', redirect_uris: [CALLBACK], ...metadata }
  const { status, body } = await postRegistration(origin, said)
  if (status !== 201) throw new Error(`registration: ${status} ${JSON.stringify(body)}`)
  return Registered.parse(body)
}

export const postForm = async (
  origin: string,
  path: string,
  form: Record<string, string> | string | URLSearchParams,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  toAnswer(
    await fetch(`${origin}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams(form).toString(),
    }),
  )

export const makeVerifier = (): string => randomBytes(32).toString('base64url')
export const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

/** An authorization request: its parameters, and the verifier that the client must remember. */
export type Request = { verifier: string; parameters: Record<string, string> }

/** Creates a valid request. `changes` replaces parameters; undefined removes one. */
export const makeRequest = (
  clientId: string,
  resource: string,
  changes: Record<string, string | undefined> = {},
): Request => {
  const verifier = makeVerifier()
  const parameters: Record<string, string | undefined> = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: CALLBACK,
    code_challenge: challengeOf(verifier),
    code_challenge_method: 'S256',
    state: randomBytes(8).toString('hex'),
    resource,
    ...changes,
  }
  const sent = Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  return { verifier, parameters: Object.fromEntries(sent) }
}

export const authorizeUrl = (origin: string, { parameters }: Request): string =>
  `${origin}/oauth/authorize?${new URLSearchParams(parameters)}`

/** Returns the parameters of the redirect to the client. Throws if the page is not a redirect. */
export const readCallback = (page: Page): URLSearchParams => {
  const location = page.headers.get('location')
  if (location === null) throw new Error(`no redirect: ${page.status} ${page.url} ${page.text.slice(0, 2_000)}`)
  return new URL(location).searchParams
}

/** Opens the consent page. */
export const openConsent = (visitor: Visitor, origin: string, request: Request): Promise<Page> =>
  visitor.get(authorizeUrl(origin, request))

/** Submits an answer to the consent page. */
export const answerConsent = (visitor: Visitor, page: Page, answer: 'yes' | 'no'): Promise<Page> => {
  const { action, fields } = fieldsOf(page, '/oauth/interaction/')
  return visitor.post(action, { ...fields, answer })
}

/** Goes through all pages, gives consent, and returns the code. */
export const obtainCode = async (visitor: Visitor, origin: string, request: Request): Promise<string> => {
  const callback = readCallback(await answerConsent(visitor, await openConsent(visitor, origin, request), 'yes'))
  const code = callback.get('code')
  if (code === null) throw new Error(`no code: ${callback}`)
  return code
}

/** Exchanges a code and its verifier for tokens. `changes` works as in `makeRequest`. */
export const exchange = (
  origin: string,
  code: string,
  { verifier, parameters }: Request,
  changes: Record<string, string | undefined> = {},
): Promise<Answer> => {
  const form: Record<string, string | undefined> = {
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    client_id: parameters.client_id,
    redirect_uri: parameters.redirect_uri,
    resource: parameters.resource,
    ...changes,
  }
  return postForm(origin, '/oauth/token', JSON.parse(JSON.stringify(form)))
}

export const refresh = (
  origin: string,
  clientId: string,
  refreshToken: string,
  changes: Record<string, string> = {},
): Promise<Answer> =>
  postForm(origin, '/oauth/token', {
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
    client_id: clientId,
    ...changes,
  })

const Tokens = z.looseObject({
  access_token: z.string(),
  refresh_token: z.string(),
  scope: z.string(),
  expires_in: z.number(),
})
export type Tokens = z.infer<typeof Tokens>

export const tokensOf = ({ status, body }: Answer): Tokens => {
  if (status !== 200) throw new Error(`tokens: ${status} ${JSON.stringify(body)}`)
  return Tokens.parse(body)
}

/** Completes the flow of a registered client, from consent to tokens. */
export const connect = async (visitor: Visitor, origin: string, request: Request): Promise<Tokens> =>
  tokensOf(await exchange(origin, await obtainCode(visitor, origin, request), request))
