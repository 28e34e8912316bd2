import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import {
  Confirmation,
  NewSecondFactor,
  NewSecondFactorView,
  Proof,
  RecoveryCodesView,
  SecondFactorView,
} from '../../identity/second-factor/second-factor.schema.ts'
import { actorOf } from '../../lib/http/access.ts'
import { sessionIdOf } from '../../lib/http/sessions.ts'

const USER = { access: 'user' } as const
const TAGS = ['second factor']

export const secondFactorRoutes =
  ({ accounts }: { accounts: AccountService }): FastifyPluginAsyncZod =>
  async app => {
    app.get(
      '/me/second-factor',
      {
        config: USER,
        schema: {
          tags: TAGS,
          summary: 'Get the status of two-factor authentication',
          response: { 200: SecondFactorView },
        },
      },
      async request => accounts.getSecondFactor(actorOf(request)),
    )

    app.post(
      '/me/second-factor',
      {
        config: USER,
        schema: {
          tags: TAGS,
          summary: 'Start setting up two-factor authentication; it takes effect once you confirm it with a code',
          body: NewSecondFactor,
          response: { 201: NewSecondFactorView },
        },
      },
      async (request, reply) =>
        reply.code(201).send(await accounts.beginSecondFactor(actorOf(request), request.body.password)),
    )

    app.post(
      '/me/second-factor/confirmation',
      {
        config: USER,
        schema: {
          tags: TAGS,
          summary: 'Turn on two-factor authentication; ends your other sessions',
          body: Confirmation,
          response: { 200: RecoveryCodesView },
        },
      },
      async request => ({
        recoveryCodes: await accounts.confirmSecondFactor(actorOf(request), request.body.code, sessionIdOf(request)),
      }),
    )

    app.delete(
      '/me/second-factor',
      {
        config: USER,
        schema: {
          tags: TAGS,
          summary: 'Turn off two-factor authentication; ends your other sessions',
          body: Proof,
          response: { 204: z.null() },
        },
      },
      async (request, reply) => {
        await accounts.removeSecondFactor(actorOf(request), request.body, sessionIdOf(request))
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/me/recovery-codes',
      {
        config: USER,
        schema: {
          tags: TAGS,
          summary: 'Create new recovery codes; the existing ones stop working',
          body: Proof,
          response: { 201: RecoveryCodesView },
        },
      },
      async (request, reply) =>
        reply.code(201).send({ recoveryCodes: await accounts.renewRecoveryCodes(actorOf(request), request.body) }),
    )
  }
