import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import {
  MeView,
  NewToken,
  NewTokenView,
  SessionView,
  SignIn,
  SignUp,
  TokenView,
  UserView,
} from '../../identity/accounts.schema.ts'
import type { AccountService } from '../../identity/accounts.service.ts'
import { resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import { beginSession, endSession } from '../../lib/http/sessions.ts'
import { visitorOf } from '../../lib/http/visitor.ts'
import { AppError } from '../../lib/kernel/errors.ts'

const tags = ['account']
/** Maximum body size. Anyone may send these requests, and credentials are short. */
const MAX_CREDENTIALS_BYTES = 16 * 1_024

export const accountRoutes: FastifyPluginAsyncZod<{ accounts: AccountService }> = async (app, { accounts }) => {
  const ofStrangers = resourceRoutes(app, { access: 'anyone', tags, bodyLimit: MAX_CREDENTIALS_BYTES })
  const routes = resourceRoutes(app, { access: 'user', tags })
  const ofTokens = resourceRoutes(app, { access: 'user', tags: ['tokens'] })

  ofStrangers.create(
    '/signup',
    { summary: 'Create an account and sign in', body: SignUp },
    viewAsIs(UserView),
    async ({ body, request, reply }) => {
      const user = await accounts.signUp({ ...body, ...visitorOf(request) })
      await beginSession(request, reply, user.id)
      return user
    },
  )
  ofStrangers.perform(
    '/session',
    { summary: 'Sign in', body: SignIn },
    viewAsIs(SessionView),
    async ({ body, request, reply }) => {
      const user = await accounts.signIn({ ...body, address: request.ip })
      return { user, csrfToken: await beginSession(request, reply, user.id) }
    },
  )

  routes.get(
    '/session',
    { summary: 'Get the session and its CSRF token' },
    viewAsIs(SessionView),
    async ({ actor, request, reply }) => {
      if (request.signedInBy !== 'session') throw noSession()
      const { user } = await accounts.getMe(actor)
      return { user, csrfToken: reply.generateCsrf() }
    },
  )

  routes.remove('/session', { summary: 'Sign out' }, async ({ actor, request, reply }) => {
    if (request.signedInBy !== 'session') throw noSession()
    await endSession(request, reply)
    await accounts.noteSignOut(actor)
  })

  routes.get('/me', { summary: 'Get the current user and their organizations' }, viewAsIs(MeView), ({ actor }) =>
    accounts.getMe(actor),
  )

  ofTokens.create(
    '/tokens',
    { summary: 'Create a personal access token', body: NewToken },
    viewAsIs(NewTokenView),
    ({ actor, body }) => accounts.createToken(actor, body),
  )
  ofTokens.list('/tokens', { summary: 'List your personal access tokens' }, viewAsIs(TokenView), ({ actor, page }) =>
    accounts.listTokens(actor, page),
  )
  ofTokens.remove('/tokens/:id', { summary: 'Revoke a token', params: uuidParams }, ({ actor, params }) =>
    accounts.removeToken(actor, params.id),
  )
}

const noSession = (): AppError =>
  new AppError('unauthenticated', 'This request has no session, because it uses an access token.')
