import type { FastifyPluginAsync } from 'fastify'
import { formText, parseForm } from '../../lib/http/pages/forms.ts'
import { isFragmentRequest, keepSingleKeys } from '../../lib/http/pages/views.ts'
import { doneText, userRoute } from '../frame/user-page.ts'

const Form = { singleKeys: formText }
const DONE = { on: 'Single keys are turned on.', off: 'Single keys are turned off.' }

/** Registers the list of keyboard shortcuts, as a page and for a dialog, with the setting that turns single keys off. */
export const shortcutPages: FastifyPluginAsync<{ sessions: { isHttps: boolean } }> = async (app, { sessions }) => {
  app.get('/shortcuts', userRoute, async (request, reply) =>
    isFragmentRequest(request)
      ? reply.fragment('palette/shortcuts-dialog', {})
      : reply.page('palette/shortcuts', {
          title: 'Keyboard shortcuts',
          width: 'narrow',
          done: doneText(request, DONE),
        }),
  )

  app.post('/shortcuts', userRoute, async (request, reply) => {
    const isOn = parseForm(Form, request.body).singleKeys === 'on'
    keepSingleKeys(reply, isOn, sessions.isHttps)
    return reply.redirect(`/shortcuts?done=${isOn ? 'on' : 'off'}`, 303)
  })
}
