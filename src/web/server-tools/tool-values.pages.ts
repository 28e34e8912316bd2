import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { formPage, formText } from '../../lib/http/pages/forms.ts'
import { formatCount, shorten } from '../../lib/kernel/format.ts'
import { type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import { createServerTab, type DoneTexts, doneNote, donePath, serverRoute } from '../frame/server-tab.ts'
import { listMissingSecrets, type MissingSecret, type MissingSecretsParts } from './missing-secrets.ts'

/** Secrets asked for at once. The page asks for the others when it is opened again. */
const MAX_ASKED = 50
/** Maximum length of the names of the tools that need a secret. */
const MAX_TOOLS_CHARACTERS = 200

const Everything = z.record(z.string(), z.unknown()).catch({})

const DONE: DoneTexts = {
  added: count => (count === 1 ? 'Tool added' : `${formatCount(count, 'tool')} added`),
}

const fieldOf = (key: string): string => `value:${key}`

const toField = ({ key, tools }: MissingSecret) => ({
  id: fieldOf(key),
  label: key,
  type: 'password',
  kind: 'code',
  autocomplete: 'off',
  isRequired: false,
  hint: `Needed by ${shorten(tools.join(', '), MAX_TOOLS_CHARACTERS)}.`,
})

/** Serves the page that asks for the values of the secrets that a server's tools need. */
export const toolValuesPages: FastifyPluginAsync<MissingSecretsParts & { frames: ServerFrameParts }> = async (
  app,
  { frames, ...parts },
) => {
  const tab = createServerTab(frames, 'tools')
  const load = async (request: FastifyRequest) => {
    const server = await tab.frameForChange(request)
    return { server, missing: await listMissingSecrets(parts, actorOf(request), server.id) }
  }

  formPage(app, '/servers/:uuid/tools/values', {
    ...serverRoute,
    fields: {},
    load,
    page: (request, { server, missing }) => ({
      view: 'server-tools/tool-values',
      data: {
        title: `Secrets for ${server.name}`,
        server,
        path: `${serverTabPath(server.id, 'tools')}/values`,
        toolsHref: serverTabPath(server.id, 'tools'),
        fields: missing.slice(0, MAX_ASKED).map(toField),
        done: doneNote(request, server, DONE),
      },
      labels: Object.fromEntries(missing.map(({ key }) => [fieldOf(key), `value of ${key}`])),
    }),
    save: async (request, { server, missing }) => {
      const typed = Everything.parse(request.body)
      const given = missing.flatMap(({ key }) => {
        const value = formText.parse(typed[fieldOf(key)])
        return value === '' ? [] : [{ key, value }]
      })
      for (const { key, value } of given) {
        await parts.globals.putGlobal(actorOf(request), server.id, key, { value, secret: true })
      }
      const path = serverTabPath(server.id, 'tools')
      return given.length === 0 ? path : donePath(path, 'values', given.length)
    },
  })
}
