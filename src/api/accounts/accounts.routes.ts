import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import {
  MeView,
  NewToken,
  NewTokenView,
  SessionView,
  SignIn,
  SignUp,
  TokenView,
  toMeView,
  toTokenView,
  toUserView,
  UserView,
} from '../../identity/accounts.schema.ts'
import type { AccountService } from '../../identity/accounts.service.ts'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { pageOf, pageQuery } from '../../lib/http/paging.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import { beginSession, endSession } from '../../lib/http/sessions.ts'
import { AppError } from '../../lib/kernel/errors.ts'

const ANYONE = { access: 'anyone' } as const
const USER = { access: 'user' } as const
const ACCOUNT = ['account']
const TOKENS = ['tokens']
/** Body limit: anyone may send these requests, and credentials are short. */
const MAX_CREDENTIALS_BYTES = 16 * 1_024

export const accountRoutes =
  ({ accounts }: { accounts: AccountService }): FastifyPluginAsyncZod =>
  async app => {
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

    app.get(
      '/session',
      {
        config: USER,
        schema: { tags: ACCOUNT, summary: 'Get the session and its CSRF token', response: { 200: SessionView } },
      },
      async (request, reply) => {
        if (request.signedInBy !== 'session') throw noSession()
        const { user } = await accounts.getMe(actorOf(request))
        return { user: toUserView(user), csrfToken: reply.generateCsrf() }
      },
    )

    app.delete(
      '/session',
      { config: USER, schema: { tags: ACCOUNT, summary: 'Sign out', response: { 204: z.null() } } },
      async (request, reply) => {
        if (request.signedInBy !== 'session') throw noSession()
        await endSession(request, reply)
        await accounts.noteSignOut(actorOf(request))
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/me',
      {
        config: USER,
        schema: { tags: ACCOUNT, summary: 'Get the current user and their organizations', response: { 200: MeView } },
      },
      async request => toMeView(await accounts.getMe(actorOf(request))),
    )

    app.post(
      '/tokens',
      {
        config: USER,
        schema: {
          tags: TOKENS,
          summary: 'Create a personal access token',
          body: NewToken,
          response: { 201: NewTokenView },
        },
      },
      async (request, reply) => {
        const created = await accounts.createToken(actorOf(request), request.body)
        return reply.code(201).send({ ...toTokenView(created), token: created.token })
      },
    )

    app.get(
      '/tokens',
      {
        config: USER,
        schema: {
          tags: TOKENS,
          summary: 'List your personal access tokens',
          querystring: pageQuery,
          response: { 200: pageOf(TokenView) },
        },
      },
      async request => {
        const page = idPageOf(request.query)
        return toIdPage(await accounts.listTokens(actorOf(request), page), page, toTokenView)
      },
    )

    app.delete(
      '/tokens/:id',
      {
        config: USER,
        schema: { tags: TOKENS, summary: 'Revoke a token', params: uuidParams, response: { 204: z.null() } },
      },
      async (request, reply) => {
        await accounts.removeToken(actorOf(request), request.params.id)
        return reply.code(204).send(null)
      },
    )
  }

const noSession = (): AppError =>
  new AppError('unauthenticated', 'This request has no session, because it uses an access token.')
