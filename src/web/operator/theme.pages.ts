import type { FastifyPluginAsync } from 'fastify'
import { formText, parseForm } from '../../lib/http/pages/forms.ts'
import { parseReturnTo } from '../../lib/http/pages/return-to.ts'
import { keepTheme } from '../../lib/http/pages/views.ts'

const ThemeForm = { theme: formText, return_to: formText }

/** Registers the color theme switch that the header of every page contains. */
export const themePages: FastifyPluginAsync<{ sessions: { isHttps: boolean } }> = async (app, { sessions }) => {
  // Requires no session, because the theme is stored only in the browser.
  app.post('/theme', { config: { access: 'anyone', isForStrangers: true } }, async (request, reply) => {
    const { theme, return_to } = parseForm(ThemeForm, request.body)
    keepTheme(reply, theme, sessions.isHttps)
    return reply.redirect(parseReturnTo(return_to), 303)
  })
}
