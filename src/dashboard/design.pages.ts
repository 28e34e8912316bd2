import type { FastifyInstance } from 'fastify'
import { DESIGN_PATCHES } from './design-patches.ts'
import { toPatchFigure } from './patch/figure.ts'

/** `/design`: every part of the pages once, in each of its states. Only registered in development. */
export const designPages = async (app: FastifyInstance): Promise<void> => {
  app.get('/design', { config: { access: 'anyone' } }, async (_request, reply) =>
    reply.page('dashboard/design', { title: 'Parts', patches: DESIGN_PATCHES.map(toPatchFigure) }),
  )
}
