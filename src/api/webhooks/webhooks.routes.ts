import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { idPageOf } from '../../lib/http/id-paging.ts'
import { pageOf, pageQuery, toPage } from '../../lib/http/paging.ts'
import { resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import type { Webhook } from '../../webhooks/webhook.ts'
import {
  CreateWebhook,
  DeliveryDetailView,
  DeliveryView,
  NewWebhookView,
  UpdateWebhook,
  WebhookSecretView,
  WebhookView,
} from '../../webhooks/webhooks.schema.ts'
import type { WebhookService } from '../../webhooks/webhooks.service.ts'

const params = uuidParams

const toView = <T extends Webhook>({ address, ...webhook }: T) => ({ ...webhook, url: address })
const webhookView = { schema: WebhookView, toView: (webhook: Webhook) => toView(webhook) }
const newWebhookView = { schema: NewWebhookView, toView: (webhook: Webhook & { secret: string }) => toView(webhook) }
const deliveryView = viewAsIs(DeliveryView)

const DeliveriesQuery = pageQuery.extend({ state: z.enum(['waiting', 'delivered', 'failed']).optional() })

/** Registers the routes for webhooks and their deliveries, for those who manage the organization. */
export const webhookRoutes: FastifyPluginAsyncZod<{ webhooks: WebhookService }> = async (app, { webhooks }) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['webhooks'] })

  routes.list(
    '/organizations/:id/webhooks',
    { summary: 'List webhooks', params },
    webhookView,
    ({ actor, params, page }) => webhooks.listWebhooks(actor, params.id, page),
  )
  routes.create(
    '/organizations/:id/webhooks',
    { summary: 'Send events of an organization to a URL', params, body: CreateWebhook },
    newWebhookView,
    ({ actor, params, body }) => webhooks.addWebhook(actor, params.id, body),
  )
  routes.get('/webhooks/:id', { params }, webhookView, ({ actor, params }) => webhooks.getWebhook(actor, params.id))
  routes.update(
    '/webhooks/:id',
    { summary: 'Change, disable or enable a webhook', params, body: UpdateWebhook },
    webhookView,
    ({ actor, params, body }) => webhooks.changeWebhook(actor, params.id, body),
  )
  routes.remove('/webhooks/:id', { params }, ({ actor, params }) => webhooks.removeWebhook(actor, params.id))
  routes.perform(
    '/webhooks/:id/secret',
    { summary: 'Make a new secret; the old one is valid for 24 more hours', params },
    viewAsIs(WebhookSecretView),
    ({ actor, params }) => webhooks.renewSecret(actor, params.id),
  )
  routes.route('POST', 202)(
    '/webhooks/:id/test',
    { summary: 'Send a test event', params },
    deliveryView,
    ({ actor, params }) => webhooks.testWebhook(actor, params.id),
  )
  routes.get(
    '/webhooks/:id/deliveries',
    { summary: 'List deliveries, newest first', params, querystring: DeliveriesQuery },
    viewAsIs(pageOf(DeliveryView)),
    async ({ actor, params, query }) => {
      const page = idPageOf(query)
      const rows = await webhooks.listDeliveries(actor, params.id, query, page)
      return toPage(rows, page.limit, last => last.id)
    },
  )
  routes.get(
    '/deliveries/:id',
    { summary: 'Get a delivery with the body of its request', params },
    viewAsIs(DeliveryDetailView),
    ({ actor, params }) => webhooks.getDelivery(actor, params.id),
  )
  routes.route('POST', 202)(
    '/deliveries/:id/replay',
    { summary: 'Deliver an event again', params },
    deliveryView,
    ({ actor, params }) => webhooks.replayDelivery(actor, params.id),
  )
}
