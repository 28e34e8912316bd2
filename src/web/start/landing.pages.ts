import type { FastifyInstance } from 'fastify'
import { actorOf } from '../platform/http/index.ts'
import type { FirstRun } from './first-run.ts'
import { LANDING_PATCH } from './landing-patch.ts'
import { toPatchFigure } from './patch/figure.ts'

type Accounts = { getSignUpTerms: () => Promise<{ closed: string | undefined }> }
type Parts = { accounts: Accounts; firstRun: FirstRun }

/** `/`: what Patchbay is, for strangers; who is signed in is sent on to what is theirs. */
export const landingPages =
  ({ accounts, firstRun }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    const patch = toPatchFigure(LANDING_PATCH)

    app.get('/', { config: { access: 'anyone' } }, async (request, reply) => {
      if (request.signedInBy === 'session') {
        return reply.redirect((await firstRun.isDue(actorOf(request))) ? '/first-run' : '/servers', 303)
      }
      const { closed } = await accounts.getSignUpTerms()
      return reply.page('dashboard/landing', {
        title: 'Host your APIs as MCP servers',
        patch,
        mayJoin: closed === undefined,
      })
    })
  }
