import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import {
  ChangedPasswordView,
  EmailChange,
  MessageView,
  mailMessages,
  OwnSessionView,
  PasswordChange,
  toOwnSessionView,
} from '../../identity/mail/mail-flows.schema.ts'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { pageOf, pageQuery } from '../../lib/http/paging.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import { beginSession, sessionIdOf } from '../../lib/http/sessions.ts'

const config = { access: 'user' } as const
const tags = ['account']
const sessionTags = ['sessions']

/** One's own address, password and sessions. */
export const ownAccountRoutes =
  ({ accounts }: { accounts: AccountService }): FastifyPluginAsyncZod =>
  async app => {
    const messages = mailMessages(accounts.isMailDelivered)

    app.post(
      '/me/email-verification',
      {
        config,
        schema: { tags, summary: 'Send the link that confirms one’s address again', response: { 202: MessageView } },
      },
      async (request, reply) => {
        await accounts.resendVerification(actorOf(request))
        return reply.code(202).send({ message: messages.verification })
      },
    )

    app.put(
      '/me/email',
      {
        config,
        schema: {
          tags,
          summary: 'Ask for another address; it changes once the link that is sent there is used',
          body: EmailChange,
          response: { 202: MessageView },
        },
      },
      async (request, reply) => {
        await accounts.requestEmailChange(actorOf(request), request.body)
        return reply.code(202).send({ message: messages.emailChange })
      },
    )

    app.put(
      '/me/password',
      {
        config,
        schema: {
          tags,
          summary: 'Change one’s password; every other session and every application’s access ends',
          body: PasswordChange,
          response: { 200: ChangedPasswordView },
        },
      },
      async (request, reply) => {
        const { userId } = actorOf(request)
        await accounts.changePassword(actorOf(request), request.body)
        const isBySession = request.signedInBy === 'session'
        return { csrfToken: isBySession ? await beginSession(request, reply, userId) : null }
      },
    )

    app.get(
      '/me/sessions',
      {
        config,
        schema: {
          tags: sessionTags,
          summary: 'Where one is signed in',
          querystring: pageQuery,
          response: { 200: pageOf(OwnSessionView) },
        },
      },
      async request => {
        const page = idPageOf(request.query)
        const sessions = await accounts.listSessions(actorOf(request), page, sessionIdOf(request))
        return toIdPage(sessions, page, toOwnSessionView)
      },
    )

    app.delete(
      '/me/sessions',
      {
        config,
        schema: { tags: sessionTags, summary: 'End all sessions but the one that asks', response: { 204: z.null() } },
      },
      async (request, reply) => {
        await accounts.endOtherSessions(actorOf(request), sessionIdOf(request))
        return reply.code(204).send(null)
      },
    )

    app.delete(
      '/me/sessions/:id',
      {
        config,
        schema: { tags: sessionTags, summary: 'End a session', params: uuidParams, response: { 204: z.null() } },
      },
      async (request, reply) => {
        await accounts.endOwnSession(actorOf(request), request.params.id)
        return reply.code(204).send(null)
      },
    )
  }
