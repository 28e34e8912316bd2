import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { formPage, formText, formValues } from '../../lib/http/pages/forms.ts'
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
const originsFieldOf = (key: string): string => `origins:${key}`

/** Says which tools need a secret, and where it will be sent: nobody should have to guess that from the tools. */
const hintOf = ({ tools, origins, isPlain }: MissingSecret): string => {
  const needed = `Needed by ${shorten(tools.join(', '), MAX_TOOLS_CHARACTERS)}.`
  const sent = origins === undefined ? '' : ` Sent only to ${origins.join(' and ')}.`
  return `${needed}${sent}${isPlain ? ' Replaces the global with this key, which is not a secret.' : ''}`
}

const toField = (missing: MissingSecret) => ({
  id: fieldOf(missing.key),
  label: missing.key,
  type: 'password',
  kind: 'code',
  autocomplete: 'off',
  isRequired: false,
  hint: hintOf(missing),
  origins: { name: originsFieldOf(missing.key), values: missing.origins ?? [] },
})

/** Returns the origins that the page showed and that still apply. If undefined, the bindings decide. */
const chosenOrigins = ({ key, origins }: MissingSecret, typed: Readonly<Record<string, unknown>>) => {
  const shown = new Set(formValues.parse(typed[originsFieldOf(key)]))
  return origins?.filter(origin => shown.has(origin))
}

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
      const given = missing.flatMap(secret => {
        const value = formText.parse(typed[fieldOf(secret.key)])
        return value === '' ? [] : [{ key: secret.key, value, origins: chosenOrigins(secret, typed) }]
      })
      for (const { key, value, origins } of given) {
        await parts.globals.putGlobal(actorOf(request), server.id, key, { value, secret: true, origins })
      }
      const path = serverTabPath(server.id, 'tools')
      return given.length === 0 ? path : donePath(path, 'values', given.length)
    },
  })
}
