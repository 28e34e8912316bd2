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

export const ownAccountRoutes =
  ({ accounts }: { accounts: AccountService }): FastifyPluginAsyncZod =>
  async app => {
    const messages = mailMessages(accounts.isMailDelivered)

    app.post(
      '/me/email-verification',
      {
        config,
        schema: { tags, summary: 'Resend the link that confirms your email address', response: { 202: MessageView } },
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
          summary: 'Request a change of your email address; it changes once you use the link sent to the new one',
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
          summary: 'Change your password; ends all other sessions and revokes all applications',
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
          summary: 'List your sessions',
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
        schema: { tags: sessionTags, summary: 'End all sessions except the current one', response: { 204: z.null() } },
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
