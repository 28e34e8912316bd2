import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import { isFragmentRequest } from '../../lib/http/pages/views.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { parseVersion } from '../../lib/http/versions.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { TokenCounter } from '../../lib/tokens/token-counter.ts'
import type { RewiringService } from '../../servers/bindings/bindings.service.ts'
import { knownGlobalsOf } from '../../servers/bindings/sockets.ts'
import type { GlobalService } from '../../servers/globals/globals.service.ts'
import { UpdateInstance } from '../../servers/servers.schema.ts'
import { type InstanceService, VERSION_CONFLICT } from '../../servers/tools/instances.service.ts'
import { typedResponseTokens } from '../../tools/response/response-tokens.ts'
import { assertDefinition } from '../../tools/tool-definition.ts'
import type { ServerFrame, ServerFrameParts } from '../frame/server-frame.ts'
import { type DoneTexts, doneNote, frameForChange, frameOf, redirectDone, TAB_CONFIG } from '../frame/server-tab.ts'
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
import { instanceOf, instanceParams, instanceRemovalPages } from './instance-removal.pages.ts'
import { instancePath } from './tools.pages.ts'

const schema = { params: instanceParams }
const config = TAB_CONFIG

const InstanceInput = UpdateInstance.extend({ maxResponseTokens: typedResponseTokens })

const DONE: DoneTexts = { saved: () => 'Saved' }

type Parts = {
  frames: ServerFrameParts
  instances: InstanceService
  globals: GlobalService
  rewiring: RewiringService
  countTokens: TokenCounter
}

/** Serves the page of one tool of a server: its name, its description and its bindings. */
export const instancePages =
  ({ frames, instances, globals, rewiring, countTokens }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    const open = async (request: FastifyRequest, server: ServerFrame): Promise<OpenInstance> => {
      const instance = await instanceOf(instances, request, server)
      const known = knownGlobalsOf(await globals.listAllGlobals(actorOf(request), server.id))
      return { instance, compiled: assertDefinition(instance.tool), globals: known }
    }

    const show = async (
      { request, reply }: { request: FastifyRequest; reply: FastifyReply },
      server: ServerFrame,
      {
        opened,
        typed,
        status = 200,
        ...outcome
      }: FormOutcome & { opened: OpenInstance; typed: InstanceForm; status?: number },
    ): Promise<FastifyReply> => {
      const draft = { draftOwner: actorOf(request).userId, isUnsaved: request.method === 'POST' }
      const page = await toInstancePage(server, opened, typed, { ...outcome, ...draft }, countTokens)
      return reply.page('server-tools/instance', page, { status })
    }

    app.get('/servers/:uuid/tools/:instanceId', { config, schema }, async (request, reply) => {
      const server = await frameOf(frames, request, 'tools')
      const opened = await open(request, server)
      const typed = toInstanceForm(opened.instance, opened.compiled.parameters)
      return show({ request, reply }, server, { opened, typed, done: doneNote(request, server, DONE) })
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

    app.post('/servers/:uuid/tools/:instanceId', { config, schema }, async (request, reply) => {
      const server = await frameForChange(frames, request, 'tools')
      const opened = await open(request, server)
      const typed = readInstanceForm(request.body, opened.compiled.parameters)
      try {
        await save(request, opened, typed)
        return redirectDone(reply, instancePath(server.id, opened.instance.id), 'saved')
      } catch (error) {
        if (!(error instanceof AppError) || error.code === 'internal') throw error
        const isConflict = error.errors?.some(({ path }) => path === VERSION_CONFLICT) === true
        // The other user may have saved after we read the instance.
        const current = isConflict ? await open(request, server) : opened
        // Only a user who was shown the other version may overwrite it.
        const version = isConflict ? current.instance.updatedAt : parseVersion(typed.version)
        return show({ request, reply }, server, {
          opened: current,
          typed,
          status: error.status,
          isConflict,
          version,
          ...placeErrors(error),
        })
      }
    })

    app.post('/servers/:uuid/tools/:instanceId/preview', { config, schema }, async (request, reply) => {
      const server = await frameForChange(frames, request, 'tools')
      const opened = await open(request, server)
      const typed = readInstanceForm(request.body, opened.compiled.parameters)
      if (!isFragmentRequest(request))
        return show({ request, reply }, server, { opened, typed, version: parseVersion(typed.version) })
      const page = await toInstancePage(server, opened, typed, {}, countTokens)
      return reply.fragment('server-tools/instance-preview', page)
    })

    await app.register(instanceRemovalPages({ frames, instances }))
  }
