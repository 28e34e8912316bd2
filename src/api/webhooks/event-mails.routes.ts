import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { ChooseEventMails, EventMailsView } from '../../event-mails/event-mails.schema.ts'
import type { EventMailService } from '../../event-mails/event-mails.service.ts'
import { resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { uuidParams } from '../../lib/http/schemas.ts'

const PATH = '/organizations/:id/event-emails'
const params = uuidParams
const view = viewAsIs(EventMailsView)

/** Registers the routes with which those who manage an organization choose events that they get by email. */
export const eventMailRoutes: FastifyPluginAsyncZod<{ eventMails: EventMailService }> = async (app, { eventMails }) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['webhooks'] })

  routes.get(PATH, { summary: 'Get the events that you get by email', params }, view, ({ actor, params }) =>
    eventMails.getEventMails(actor, params.id),
  )
  routes.put(
    PATH,
    { summary: 'Choose the events that you get by email', params, body: ChooseEventMails },
    view,
    ({ actor, params, body }) => eventMails.chooseEventMails(actor, params.id, body),
  )
}
