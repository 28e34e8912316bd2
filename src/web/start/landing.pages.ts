import type { FastifyPluginAsync } from 'fastify'
import type { AccountService } from '../../identity/accounts.service.ts'
import { actorOf } from '../../lib/http/access.ts'
import { visitorOf } from '../../lib/http/visitor.ts'
import { toPatchFigure } from '../diagram/figure.ts'
import { LANDING_PATCH } from '../diagram/landing-patch.ts'
import { createFirstRun, type FirstRunParts } from './first-run.ts'

type Parts = FirstRunParts & { accounts: Pick<AccountService, 'getSignUpTerms'> }

/** Registers `/`, which shows visitors the landing page and redirects signed-in users. */
export const landingPages: FastifyPluginAsync<Parts> = async (app, parts) => {
  const firstRun = createFirstRun(parts)
  const patch = toPatchFigure(LANDING_PATCH)

  app.get('/', { config: { access: 'anyone' } }, async (request, reply) => {
    if (request.signedInBy === 'session') {
      return reply.redirect((await firstRun.isDue(actorOf(request))) ? '/first-run' : '/servers', 303)
    }
    const { closed } = await parts.accounts.getSignUpTerms(visitorOf(request))
    const title = 'Host your APIs as MCP servers'
    return reply.page('start/landing', { title, patch, mayJoin: closed === undefined })
  })
}
