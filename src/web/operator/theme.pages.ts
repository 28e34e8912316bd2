import type { FastifyInstance } from 'fastify'
import { formText, keepTheme, parseForm, parseReturnTo } from '../platform/http/index.ts'

const ThemeForm = { theme: formText, return_to: formText }

/** The switch of colours in the bar of every page. */
export const themePages =
  ({ isHttps }: { isHttps: boolean }) =>
  async (app: FastifyInstance): Promise<void> => {
    // Nothing is done in anybody's name: it is remembered in the browser alone.
    app.post('/theme', { config: { access: 'anyone', isForStrangers: true } }, async (request, reply) => {
      const { theme, return_to } = parseForm(ThemeForm, request.body)
      keepTheme(reply, theme, isHttps)
      return reply.redirect(parseReturnTo(return_to), 303)
    })
  }
