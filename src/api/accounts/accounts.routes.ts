import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import {
  MeView,
  NewToken,
  NewTokenView,
  SessionView,
  SignIn,
  SignUp,
  TokenView,
  toMeView,
  toNewTokenView,
  toTokenView,
  toUserView,
  UserView,
} from '../../identity/accounts.schema.ts'
import type { AccountService } from '../../identity/accounts.service.ts'
import { resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import { beginSession, endSession } from '../../lib/http/sessions.ts'
import { AppError } from '../../lib/kernel/errors.ts'

const ANYONE = { access: 'anyone' } as const
const USER = { access: 'user' } as const
const ACCOUNT = ['account']
/** Body limit: anyone may send these requests, and credentials are short. */
const MAX_CREDENTIALS_BYTES = 16 * 1_024

export const accountRoutes: FastifyPluginAsyncZod<{ accounts: AccountService }> = async (app, { accounts }) => {
  const routes = resourceRoutes(app, { ...USER, tags: ACCOUNT })
  const ofTokens = resourceRoutes(app, { ...USER, tags: ['tokens'] })

  app.post(
    '/signup',
    {
      bodyLimit: MAX_CREDENTIALS_BYTES,
      config: ANYONE,
      schema: { tags: ACCOUNT, summary: 'Create an account and sign in', body: SignUp, response: { 201: UserView } },
    },
    async (request, reply) => {
      const user = await accounts.signUp({ ...request.body, address: request.ip })
      await beginSession(request, reply, user.id)
      return reply.code(201).send(toUserView(user))
    },
  )

  app.post(
    '/session',
    {
      bodyLimit: MAX_CREDENTIALS_BYTES,
      config: ANYONE,
      schema: { tags: ACCOUNT, summary: 'Sign in', body: SignIn, response: { 200: SessionView } },
    },
    async (request, reply) => {
      const user = await accounts.signIn({ ...request.body, address: request.ip })
      return { user: toUserView(user), csrfToken: await beginSession(request, reply, user.id) }
    },
  )

  routes.get(
    '/session',
    { summary: 'Get the session and its CSRF token' },
    viewAsIs(SessionView),
    async ({ actor, request, reply }) => {
      if (request.signedInBy !== 'session') throw noSession()
      const { user } = await accounts.getMe(actor)
      return { user: toUserView(user), csrfToken: reply.generateCsrf() }
    },
  )

  routes.remove('/session', { summary: 'Sign out' }, async ({ actor, request, reply }) => {
    if (request.signedInBy !== 'session') throw noSession()
    await endSession(request, reply)
    await accounts.noteSignOut(actor)
  })

  routes.get(
    '/me',
    { summary: 'Get the current user and their organizations' },
    { schema: MeView, toView: toMeView },
    ({ actor }) => accounts.getMe(actor),
  )

  ofTokens.create(
    '/tokens',
    { summary: 'Create a personal access token', body: NewToken },
    { schema: NewTokenView, toView: toNewTokenView },
    ({ actor, body }) => accounts.createToken(actor, body),
  )
  ofTokens.list(
    '/tokens',
    { summary: 'List your personal access tokens' },
    { schema: TokenView, toView: toTokenView },
    ({ actor, page }) => accounts.listTokens(actor, page),
  )
  ofTokens.remove('/tokens/:id', { summary: 'Revoke a token', params: uuidParams }, ({ actor, params }) =>
    accounts.removeToken(actor, params.id),
  )
}

const noSession = (): AppError =>
  new AppError('unauthenticated', 'This request has no session, because it uses an access token.')
