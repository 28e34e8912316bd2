import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { formFlag, parseForm } from '../../lib/http/pages/forms.ts'
import { isFragmentRequest } from '../../lib/http/pages/views.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { parseVersion } from '../../lib/http/versions.ts'
import { isChangedMeanwhile } from '../../lib/kernel/conflicts.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import type { TokenCounterFor } from '../../lib/tokens/token-counter.ts'
import type { RewiringService } from '../../servers/bindings/bindings.service.ts'
import { knownGlobalsOf } from '../../servers/bindings/sockets.ts'
import type { GlobalService } from '../../servers/globals/globals.service.ts'
import type { Instance } from '../../servers/server.ts'
import { UpdateInstance } from '../../servers/servers.schema.ts'
import type { InstanceService } from '../../servers/tools/instances.service.ts'
import { typedResponseTokens } from '../../tools/response/response-tokens.ts'
import { assertDefinition } from '../../tools/tool-definition.ts'
import { removalPage } from '../frame/removal-page.ts'
import { type ServerFrame, type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import { createServerTab, type DoneTexts, doneNote, donePath, serverRoute } from '../frame/server-tab.ts'
import type { OpenInstance } from './instance.view.ts'
import {
  assertGlobalsChosen,
  bindingsFrom,
  type InstanceForm,
  newGlobalsFrom,
  readInstanceForm,
  toInstanceForm,
} from './instance-form.ts'
import { type FormOutcome, placeErrors, toInstancePage } from './instance-page.view.ts'
import { createToolUndo, toRemovedTool } from './removed-tools.ts'
import { instancePath } from './tools.pages.ts'

const Params = z.object({ uuid: uuidParam, instanceId: uuidParam })
const route = { ...serverRoute, schema: { params: Params } }
const PATH = '/servers/:uuid/tools/:instanceId'

const InstanceInput = UpdateInstance.extend({ maxResponseTokens: typedResponseTokens })

const DONE: DoneTexts = { saved: () => 'Saved', on: () => 'Tool enabled', off: () => 'Tool disabled' }

type Parts = {
  frames: ServerFrameParts
  instances: InstanceService
  globals: GlobalService
  rewiring: RewiringService
  tokenCounterFor: TokenCounterFor
  sealing: Sealing
}

/** Serves the page of a server's tool, with its name, description and bindings. */
export const instancePages: FastifyPluginAsync<Parts> = async (
  app,
  { frames, instances, globals, rewiring, tokenCounterFor, sealing },
) => {
  const tab = createServerTab(frames, 'tools')
  const undo = createToolUndo(sealing)

  const instanceOf = async (request: FastifyRequest, server: ServerFrame): Promise<Instance> => {
    const instance = await instances.getInstance(actorOf(request), Params.parse(request.params).instanceId)
    if (instance.serverId === server.id) return instance
    throw new AppError('not_found', 'This server has no such tool.')
  }

  const open = async (request: FastifyRequest, server: ServerFrame): Promise<OpenInstance> => {
    const instance = await instanceOf(request, server)
    const known = knownGlobalsOf(await globals.listAllGlobals(actorOf(request), server.id))
    return { instance, compiled: assertDefinition(instance.tool), globals: known }
  }

  const show = async (
    reply: FastifyReply,
    server: ServerFrame,
    shown: FormOutcome & { opened: OpenInstance; typed: InstanceForm; status?: number },
  ): Promise<FastifyReply> => {
    const { opened, typed, status = 200, ...outcome } = shown
    const { request } = reply
    const { userId } = actorOf(request)
    const draft = { draftOwner: userId, isUnsaved: request.method === 'POST' }
    const page = await toInstancePage(server, opened, typed, { ...outcome, ...draft }, tokenCounterFor(userId))
    return reply.page('server-tools/instance', page, { status })
  }

  app.get(PATH, route, async (request, reply) => {
    const server = await tab.frameOf(request)
    const opened = await open(request, server)
    const typed = toInstanceForm(opened.instance, opened.compiled.parameters)
    return show(reply, server, { opened, typed, done: doneNote(request, server, DONE) })
  })

  const save = async (
    request: FastifyRequest,
    { instance, compiled }: OpenInstance,
    typed: InstanceForm,
  ): Promise<void> => {
    assertGlobalsChosen(typed)
    const { name, description, maxResponseTokens } = parseInput(InstanceInput, {
      name: typed.name,
      description: typed.description === '' ? null : typed.description,
      maxResponseTokens: typed.maxResponseTokens,
    })
    await rewiring.saveInstance(actorOf(request), instance.id, {
      patch: {
        name,
        description,
        maxResponseTokens: maxResponseTokens ?? null,
        bindings: bindingsFrom(typed, compiled.parameters),
      },
      newGlobals: newGlobalsFrom(typed),
      ifUnchangedSince: parseVersion(typed.version),
    })
  }

  app.post(PATH, route, async (request, reply) => {
    const server = await tab.frameForChange(request)
    const opened = await open(request, server)
    const typed = readInstanceForm(request.body, opened.compiled.parameters)
    try {
      await save(request, opened, typed)
      return reply.redirect(donePath(instancePath(server.id, opened.instance.id), 'saved'), 303)
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'internal') throw error
      const isConflict = isChangedMeanwhile(error)
      // The other user may have saved after this request read the instance.
      const current = isConflict ? await open(request, server) : opened
      // Only a user who was shown the other version may overwrite it.
      const version = isConflict ? current.instance.updatedAt : parseVersion(typed.version)
      return show(reply, server, {
        opened: current,
        typed,
        status: error.status,
        isConflict,
        version,
        ...placeErrors(error),
      })
    }
  })

  app.post(`${PATH}/preview`, route, async (request, reply) => {
    const server = await tab.frameForChange(request)
    const opened = await open(request, server)
    const typed = readInstanceForm(request.body, opened.compiled.parameters)
    if (!isFragmentRequest(request)) return show(reply, server, { opened, typed, version: parseVersion(typed.version) })
    const page = await toInstancePage(server, opened, typed, {}, tokenCounterFor(actorOf(request).userId))
    return reply.fragment('server-tools/instance-preview', page)
  })

  app.post(`${PATH}/switch`, route, async (request, reply) => {
    const server = await tab.frameForChange(request)
    const { id } = await instanceOf(request, server)
    const { enabled } = parseForm({ enabled: formFlag }, request.body)
    await instances.updateInstance(actorOf(request), id, { enabled })
    return reply.redirect(donePath(instancePath(server.id, id), enabled ? 'on' : 'off'), 303)
  })

  removalPage(app, `${PATH}/remove`, {
    ...route,
    button: 'Remove tool',
    load: async request => {
      const server = await tab.frameForChange(request)
      return { server, instance: await instanceOf(request, server) }
    },
    nameOf: ({ instance }) => instance.name,
    page: (request, { server, instance }) => ({
      server,
      text: `Clients of ${server.name} can no longer call it. Its bindings are deleted. The tool stays in its toolkit, and its calls stay in the history. ${undo.describe(request, { path: serverTabPath(server.id, 'tools') }, [toRemovedTool(instance)])}`,
      back: instancePath(server.id, instance.id),
    }),
    remove: async (request, { server, instance }, reply) => {
      await instances.removeInstance(actorOf(request), instance.id)
      undo.keep(request, reply, { path: serverTabPath(server.id, 'tools') }, [toRemovedTool(instance)])
      return donePath(serverTabPath(server.id, 'tools'), 'removed')
    },
  })
}
