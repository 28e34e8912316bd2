import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import {
  Confirmation,
  NewSecondFactor,
  NewSecondFactorView,
  Proof,
  RecoveryCodesView,
  SecondFactorView,
} from '../../identity/second-factor/second-factor.schema.ts'
import { resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { sessionIdOf } from '../../lib/http/sessions.ts'

const recoveryCodesView = {
  schema: RecoveryCodesView,
  toView: (recoveryCodes: string[]) => ({ recoveryCodes }),
}

export const secondFactorRoutes: FastifyPluginAsyncZod<{ accounts: AccountService }> = async (app, { accounts }) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['second factor'] })

  routes.get(
    '/me/second-factor',
    { summary: 'Get the status of two-factor authentication' },
    viewAsIs(SecondFactorView),
    ({ actor }) => accounts.getSecondFactor(actor),
  )
  routes.create(
    '/me/second-factor',
    {
      summary: 'Start setting up two-factor authentication; it takes effect once you confirm it with a code',
      body: NewSecondFactor,
    },
    viewAsIs(NewSecondFactorView),
    ({ actor, body }) => accounts.beginSecondFactor(actor, body.password),
  )
  routes.perform(
    '/me/second-factor/confirmation',
    { summary: 'Turn on two-factor authentication; ends your other sessions', body: Confirmation },
    recoveryCodesView,
    ({ actor, body, request }) => accounts.confirmSecondFactor(actor, body.code, sessionIdOf(request)),
  )
  routes.remove(
    '/me/second-factor',
    { summary: 'Turn off two-factor authentication; ends your other sessions', body: Proof },
    ({ actor, body, request }) => accounts.removeSecondFactor(actor, body, sessionIdOf(request)),
  )
  routes.create(
    '/me/recovery-codes',
    { summary: 'Create new recovery codes; the existing ones stop working', body: Proof },
    recoveryCodesView,
    ({ actor, body }) => accounts.renewRecoveryCodes(actor, body),
  )
}
