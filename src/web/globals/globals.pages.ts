import { isDeepStrictEqual } from 'node:util'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { type FormPage, formFlag, formLines, formPage, formText } from '../../lib/http/pages/forms.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { formatCount } from '../../lib/kernel/format.ts'
import { MAX_GLOBALS_PER_SERVER } from '../../lib/kernel/limits.ts'
import type { GlobalUses, RewiringService } from '../../servers/bindings/bindings.service.ts'
import type { GlobalService } from '../../servers/globals/globals.service.ts'
import type { Global } from '../../servers/server.ts'
import { originLines } from '../../servers/servers.schema.ts'
import { removalPage } from '../frame/removal-page.ts'
import { type ServerFrame, type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import {
  createServerTab,
  type DoneTexts,
  doneNote,
  donePath,
  newGlobalPath,
  serverIdOf,
  serverRoute,
} from '../frame/server-tab.ts'
import { describeUses, globalPath, isUsed, toGlobalRow, toUseList, usesOfKey } from './globals.view.ts'

const Params = z.object({ uuid: uuidParam, key: z.string().max(100) })
const keyRoute = { ...serverRoute, schema: { params: Params } }

/** `origins` is undefined if the form did not have the field. */
const EditForm = { value: formLines, secret: formFlag, origins: z.string().optional().catch(undefined) }
const NewForm = { key: formText.transform(text => text.trim()), ...EditForm }
type Typed = { key: string; value: string; secret: boolean; origins?: string | undefined }
const LABELS = { key: 'key', value: 'value', origins: 'list of origins' }
const PREFILL = z.object({ key: formText })

const DONE: DoneTexts = {
  added: () => 'Global added',
  saved: () => 'Saved',
  kept: () => 'The secret is unchanged',
  removed: () => 'Global removed',
}

/**
 * Throws unless the user entered the value again when turning a secret into a plain value. A stored secret is therefore
 * never shown.
 */
const assertRetyped = ({ isSecret }: Global, typed: Pick<Typed, 'value' | 'secret'>): void => {
  if (!isSecret || typed.secret || typed.value !== '') return
  throw new AppError('invalid_request', 'Enter the value again: a stored secret cannot be shown.', {
    errors: [{ path: 'value', message: 'is required, because the stored secret cannot be shown' }],
  })
}

type TypedOrigins = Pick<Typed, 'origins' | 'secret'>

/** Parses the origins of a secret. Returns undefined if the form had none. */
const typedOrigins = ({ origins, secret }: TypedOrigins): string[] | undefined => {
  if (origins === undefined || !secret) return undefined
  const parsed = originLines.safeParse(origins)
  if (parsed.success) return parsed.data
  const message = parsed.error.issues[0]?.message ?? 'is invalid'
  throw new AppError('invalid_request', `The list of origins ${message}.`, { errors: [{ path: 'origins', message }] })
}

/** Returns the origins to edit. Those that another builder chose are left out, so that no new value is sent there. */
const originsToEdit = ({ userId }: Actor, global: Global): readonly string[] => {
  if (!global.isSecret || (global.originsBy === 'storer' && global.storedBy !== userId)) return []
  return global.origins ?? []
}

/** Returns the origins that the user changed, or null if they removed all. Returns undefined if they changed nothing. */
const changedOrigins = (typed: TypedOrigins, before: readonly string[]): string[] | null | undefined => {
  const origins = typedOrigins(typed)
  if (origins === undefined || isDeepStrictEqual(origins, before)) return undefined
  return origins.length === 0 ? null : origins
}

/** Removes a secret from the form. Pages never contain secrets, so the user must enter it again after an error. */
const withoutSecret = <T extends Pick<Typed, 'value' | 'secret'>>(typed: T): T =>
  typed.secret ? { ...typed, value: '' } : typed

/** Serves the Globals tab of a server. */
export const globalsPages: FastifyPluginAsync<{
  frames: ServerFrameParts
  globals: GlobalService
  rewiring: RewiringService
}> = async (app, { frames, globals, rewiring }) => {
  const tab = createServerTab(frames, 'globals')

  formPage(app, '/servers/:uuid/globals', {
    ...serverRoute,
    fields: NewForm,
    load: tab.frameOf,
    page: async (request, server, typed): Promise<FormPage> => {
      const actor = actorOf(request)
      const [all, uses] = await Promise.all([
        globals.listAllGlobals(actor, server.id),
        rewiring.listGlobalUses(actor, server.id),
      ])
      const keys = new Set(all.map(({ key }) => key))
      const wanted = PREFILL.parse(request.query).key.slice(0, 64)
      const origins = server.mayBuild ? await globals.listSuggestedOrigins(actor, server.id, wanted) : []
      return {
        view: 'globals/globals',
        data: {
          title: `Globals of ${server.name}`,
          server,
          path: serverTabPath(server.id, 'globals'),
          heading: formatCount(all.length, 'global'),
          globals: all.map(global => toGlobalRow(server.id, global, usesOfKey(uses, global.key))),
          missing: [...uses]
            .filter(([key]) => !keys.has(key))
            .map(([key, ofKey]) => ({ key, uses: describeUses(ofKey), href: newGlobalPath(server.id, key) })),
          isFull: all.length >= MAX_GLOBALS_PER_SERVER,
          typed: withoutSecret(typed ?? { key: wanted, value: '', secret: false, origins: origins.join('\n') }),
          done: doneNote(request, server, DONE),
        },
        labels: LABELS,
      }
    },
    save: async (request, server, { key, ...typed }) => {
      // Without origins, the first binding sets them.
      const input = { ...typed, origins: changedOrigins(typed, []) }
      await globals.createGlobal(actorOf(request), server.id, key, input)
      return donePath(serverTabPath(server.id, 'globals'), 'added')
    },
  })

  const usesOf = async (request: FastifyRequest, key: string): Promise<GlobalUses> =>
    usesOfKey(await rewiring.listGlobalUses(actorOf(request), serverIdOf(request)), key)

  const withGlobal =
    (frameOf: (request: FastifyRequest) => Promise<ServerFrame>) => async (request: FastifyRequest) => {
      const server = await frameOf(request)
      const { key } = Params.parse(request.params)
      return { server, global: await globals.getGlobal(actorOf(request), server.id, key) }
    }

  const keyPath = '/servers/:uuid/globals/:key'
  formPage(app, keyPath, {
    ...keyRoute,
    fields: EditForm,
    load: withGlobal(tab.frameOf),
    page: async (request, { server, global }, typed): Promise<FormPage> => {
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
          typed: {
            value: global.isSecret || typed?.secret === true ? '' : (typed?.value ?? global.value),
            secret: typed?.secret ?? global.isSecret,
            origins: typed?.origins ?? originsToEdit(actorOf(request), global).join('\n'),
          },
          done: doneNote(request, server, DONE),
        },
        labels: LABELS,
      }
    },
    save: async (request, { global }, typed) => {
      const path = globalPath(global.serverId, global.key)
      const origins = changedOrigins(typed, originsToEdit(actorOf(request), global))
      // If the field is left empty, the stored secret stays unchanged.
      if (global.isSecret && typed.secret && typed.value === '') {
        if (origins === undefined) return donePath(path, 'kept')
        await globals.putGlobal(actorOf(request), global.serverId, global.key, { origins })
        return donePath(path, 'saved')
      }
      assertRetyped(global, typed)
      await globals.putGlobal(actorOf(request), global.serverId, global.key, { ...typed, origins })
      return donePath(path, 'saved')
    },
  })

  removalPage(app, `${keyPath}/remove`, {
    ...keyRoute,
    button: 'Remove global',
    load: withGlobal(tab.frameForChange),
    nameOf: ({ global }) => global.key,
    page: async (request, { server, global }) => {
      const uses = await usesOf(request, global.key)
      return {
        server,
        text: !isUsed(uses)
          ? 'No tool or MCP server uses it. Its value cannot be recovered.'
          : `It is used by ${describeUses(uses)}. Their calls fail until you add a global with this key or change their bindings.`,
        ...toUseList(server.id, uses),
        back: globalPath(server.id, global.key),
      }
    },
    remove: async (request, { server, global }) => {
      await globals.removeGlobal(actorOf(request), server.id, global.key)
      return donePath(serverTabPath(server.id, 'globals'), 'removed')
    },
  })
}
