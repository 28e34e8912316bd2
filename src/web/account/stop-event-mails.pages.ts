import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { EventMailService } from '../../event-mails/event-mails.service.ts'
import { isSafeMethod } from '../../lib/http/access.ts'
import { formPage, formText } from '../../lib/http/pages/forms.ts'

const PATH = '/stop-event-emails'
/** The token in the link authorizes the form, so it needs no session. */
const STRANGERS = { access: 'anyone', isForStrangers: true } as const
const Query = z.object({ token: formText })

/** Registers the page on which the reader of an email about events stops these emails. */
export const stopEventMailPages: FastifyPluginAsync<{ eventMails: EventMailService }> = async (app, { eventMails }) => {
  // The URL contains the token, so it must not leak through the referrer.
  app.addHook('onRequest', async (request, reply) => {
    if (isSafeMethod(request.method)) reply.header('referrer-policy', 'strict-origin')
  })

  // Acts only when its button is pressed, because mail scanners open the links in emails.
  formPage(app, PATH, {
    config: STRANGERS,
    fields: { token: formText },
    load: (request: FastifyRequest) => Query.parse(request.query).token,
    page: (_request, loaded, typed) => ({
      view: 'account/link',
      data: {
        title: 'Stop these emails',
        text: 'You will no longer get emails about the events of this organization. Other emails are not affected.',
        button: 'Stop',
        path: PATH,
        token: typed?.token ?? loaded,
      },
    }),
    save: async (_request, _loaded, { token }, reply) => {
      await eventMails.stopEventMails(token)
      const text = 'You no longer get emails about the events of this organization.'
      return reply.page('account/done', { title: 'Emails stopped', text, next: { href: '/', text: 'Continue' } })
    },
  })
}
