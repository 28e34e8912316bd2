import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { formatCount } from '../../lib/http/pages/format.ts'
import { type FormPage, formText, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { assertTypedName } from '../../lib/http/pages/typed-name.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { MAX_GLOBALS_PER_SERVER } from '../../lib/kernel/limits.ts'
import type { GlobalUses, RewiringService } from '../../servers/bindings/bindings.service.ts'
import type { GlobalService } from '../../servers/globals/globals.service.ts'
import type { Global } from '../../servers/server.ts'
import { type ServerFrame, type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import {
  type DoneTexts,
  doneNote,
  frameForChange,
  frameOf,
  newGlobalPath,
  redirectDone,
  serverIdOf,
  serverSchema,
  TAB_CONFIG,
} from '../frame/server-tab.ts'
import { describeUses, globalPath, isUsed, toGlobalRow, toUseList, usesOfKey } from './globals.view.ts'

const config = TAB_CONFIG
const Params = z.object({ uuid: uuidParam, key: z.string().max(100) })
const schema = { params: Params }
const keyOf = (request: FastifyRequest): string => Params.parse(request.params).key

const NewForm = { key: formText, value: formText, secret: formText }
const EditForm = { value: formText, secret: formText }
const RemovalForm = { sure: formText }
const LABELS = { key: 'key', value: 'value' }
const PREFILL = z.object({ key: formText })

const DONE: DoneTexts = {
  added: () => 'Global added',
  saved: () => 'Saved',
  kept: () => 'The secret is unchanged',
  removed: () => 'Global removed',
}

/** Browsers send line breaks of a text area as CR LF. */
const withUnixLineBreaks = (value: string): string => value.replaceAll('\r\n', '\n')

/** A secret becomes a plain value only if the value is entered again, so that a stored secret is never shown. */
const assertRetyped = ({ isSecret }: Global, typed: { value: string; isSecret: boolean }): void => {
  if (!isSecret || typed.isSecret || typed.value !== '') return
  throw new AppError('invalid_request', 'Enter the value again: a stored secret cannot be shown.', {
    errors: [{ path: 'value', message: 'is required, because the stored secret cannot be shown' }],
  })
}

/** Serves the Globals tab of a server. */
export const globalsPages =
  ({ frames, globals, rewiring }: { frames: ServerFrameParts; globals: GlobalService; rewiring: RewiringService }) =>
  async (app: FastifyInstance): Promise<void> => {
    type Typed = { key: string; value: string; isSecret: boolean }

    const listPage = async (request: FastifyRequest, server: ServerFrame, typed: Typed): Promise<FormPage> => {
      const actor = actorOf(request)
      const [all, uses] = await Promise.all([
        globals.listAllGlobals(actor, server.id),
        rewiring.listGlobalUses(actor, server.id),
      ])
      const keys = new Set(all.map(({ key }) => key))
      const path = serverTabPath(server.id, 'globals')
      return {
        view: 'globals/globals',
        data: {
          title: `Globals of ${server.name}`,
          server,
          path,
          heading: formatCount(all.length, 'global'),
          globals: all.map(global => toGlobalRow(server.id, global, usesOfKey(uses, global.key))),
          missing: [...uses]
            .filter(([key]) => !keys.has(key))
            .map(([key, ofKey]) => ({
              key,
              uses: describeUses(ofKey),
              href: newGlobalPath(server.id, key),
            })),
          isFull: all.length >= MAX_GLOBALS_PER_SERVER,
          // No page contains a secret, so one that was rejected must be entered again.
          typed: typed.isSecret ? { ...typed, value: '' } : typed,
          done: doneNote(request, server, DONE),
        },
        labels: LABELS,
      }
    }

    const listPath = '/servers/:uuid/globals'
    app.get(listPath, { config, schema: serverSchema }, async (request, reply) => {
      const server = await frameOf(frames, request, 'globals')
      const { key } = PREFILL.parse(request.query)
      return showForm(reply, await listPage(request, server, { key: key.slice(0, 64), value: '', isSecret: false }))
    })

    app.post(listPath, { config, schema: serverSchema }, async (request, reply) => {
      const server = await frameForChange(frames, request, 'globals')
      const { key, value, secret } = parseForm(NewForm, request.body)
      const typed = { key: key.trim(), value: withUnixLineBreaks(value), isSecret: secret === 'on' }
      return submitForm(reply, await listPage(request, server, typed), async () => {
        const input = { value: typed.value, secret: typed.isSecret }
        await globals.createGlobal(actorOf(request), server.id, typed.key, input)
        return redirectDone(reply, serverTabPath(server.id, 'globals'), 'added')
      })
    })

    const usesOf = async (request: FastifyRequest, key: string): Promise<GlobalUses> =>
      usesOfKey(await rewiring.listGlobalUses(actorOf(request), serverIdOf(request)), key)

    const editPage = async (
      request: FastifyRequest,
      server: ServerFrame,
      global: Global,
      typed: Pick<Typed, 'value' | 'isSecret'>,
    ): Promise<FormPage> => {
      const uses = await usesOf(request, global.key)
      return {
        view: 'globals/global',
        data: {
          title: `${global.key} in ${server.name}`,
          server,
          path: globalPath(server.id, global.key),
          listHref: serverTabPath(server.id, 'globals'),
          global: toGlobalRow(server.id, global, uses),
          uses: toUseList(server.id, uses),
          typed: global.isSecret || typed.isSecret ? { ...typed, value: global.isSecret ? '' : typed.value } : typed,
          done: doneNote(request, server, DONE),
        },
        labels: LABELS,
      }
    }

    const keyPath = '/servers/:uuid/globals/:key'
    app.get(keyPath, { config, schema }, async (request, reply) => {
      const server = await frameOf(frames, request, 'globals')
      const global = await globals.getGlobal(actorOf(request), server.id, keyOf(request))
      const typed = { value: global.isSecret ? '' : global.value, isSecret: global.isSecret }
      return showForm(reply, await editPage(request, server, global, typed))
    })

    const saveGlobal = async (
      request: FastifyRequest,
      reply: FastifyReply,
      global: Global,
      typed: Pick<Typed, 'value' | 'isSecret'>,
    ) => {
      const path = globalPath(global.serverId, global.key)
      // An empty field keeps the secret.
      if (global.isSecret && typed.isSecret && typed.value === '') return redirectDone(reply, path, 'kept')
      assertRetyped(global, typed)
      await globals.putGlobal(actorOf(request), global.serverId, global.key, {
        value: typed.value,
        secret: typed.isSecret,
      })
      return redirectDone(reply, path, 'saved')
    }

    app.post(keyPath, { config, schema }, async (request, reply) => {
      const server = await frameForChange(frames, request, 'globals')
      const global = await globals.getGlobal(actorOf(request), server.id, keyOf(request))
      const { value, secret } = parseForm(EditForm, request.body)
      const typed = { value: withUnixLineBreaks(value), isSecret: secret === 'on' }
      const page = await editPage(request, server, global, typed)
      return submitForm(reply, page, () => saveGlobal(request, reply, global, typed))
    })

    const removalPage = async (
      request: FastifyRequest,
      server: ServerFrame,
      { key }: Global,
      typed: string,
    ): Promise<FormPage> => {
      const uses = await usesOf(request, key)
      const list = toUseList(server.id, uses)
      return {
        view: 'settings/removal',
        data: {
          title: `Remove ${key}`,
          server,
          question: `Remove ${key}?`,
          consequence: !isUsed(uses)
            ? 'No tool or MCP server uses it. Its value cannot be recovered.'
            : `It is used by ${describeUses(uses)}. Their calls fail until you add a global with this key or change their bindings.`,
          blocks: list.items,
          moreBlocks: list.more,
          action: `${globalPath(server.id, key)}/remove`,
          back: globalPath(server.id, key),
          name: key,
          button: 'Remove global',
          typed,
        },
        labels: { sure: 'key' },
      }
    }

    app.get(`${keyPath}/remove`, { config, schema }, async (request, reply) => {
      const server = await frameForChange(frames, request, 'globals')
      const global = await globals.getGlobal(actorOf(request), server.id, keyOf(request))
      return showForm(reply, await removalPage(request, server, global, ''))
    })

    app.post(`${keyPath}/remove`, { config, schema }, async (request, reply) => {
      const server = await frameForChange(frames, request, 'globals')
      const global = await globals.getGlobal(actorOf(request), server.id, keyOf(request))
      const { sure } = parseForm(RemovalForm, request.body)
      return submitForm(reply, await removalPage(request, server, global, sure), async () => {
        assertTypedName(sure, global.key)
        await globals.removeGlobal(actorOf(request), server.id, global.key)
        return redirectDone(reply, serverTabPath(server.id, 'globals'), 'removed')
      })
    })
  }
