import type { FastifyInstance } from 'fastify'
import { DESIGN_FIGURES } from './design-figures.ts'
import { DESIGN_PATCHES } from './design-patches.ts'
import { DESIGN_WIRES } from './design-wires.ts'
import { toPatchFigure } from './figure.ts'

/** Serves `/design`: every part in each of its states. Registered only in development. */
export const designPages = async (app: FastifyInstance): Promise<void> => {
  app.get('/design', { config: { access: 'anyone' } }, async (_request, reply) =>
    reply.page('diagram/design', {
      title: 'Parts',
      ...DESIGN_FIGURES,
      patches: DESIGN_PATCHES.map(toPatchFigure),
      wires: DESIGN_WIRES,
    }),
  )
}
