import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { AppError } from '../kernel/index.ts'
import {
  actorOf,
  assertTypedName,
  type FormPage,
  formText,
  isFragmentRequest,
  parseForm,
  parseInput,
  showForm,
  submitForm,
  timeText,
  uuidParam,
} from '../platform/http/index.ts'
import { assertDefinition } from '../toolkits/index.ts'
import type { GlobalService } from './globals.service.ts'
import {
  byParameter,
  compareTyped,
  type Finding,
  type Findings,
  findFindings,
  lostParameters,
  type OpenInstance,
  toParameterFields,
  toSeen,
} from './instance.view.ts'
import {
  assertGlobalsChosen,
  bindingsFrom,
  newGlobalsFrom,
  readTyped,
  type TypedInstance,
  typedOf,
  versionOf,
} from './instance-form.ts'
import { CHANGED_MEANWHILE, type InstanceService } from './instances.service.ts'
import type { RewiringService } from './rewiring.service.ts'
import { type ServerFrame, type ServerFrameParts, serverTabPath } from './server-frame.ts'
import { type DoneTexts, doneNote, frameForChange, frameOf, redirectDone, TAB_CONFIG } from './server-tab.ts'
import { UpdateInstance } from './servers.schema.ts'
import { knownGlobalsOf } from './sockets.ts'
import { instancePath } from './tools.pages.ts'

const Params = z.object({ uuid: uuidParam, instanceId: uuidParam })
const schema = { params: Params }
const config = TAB_CONFIG
const RemovalForm = { sure: formText }

const DONE: DoneTexts = { saved: () => 'Saved' }

type Parts = {
  frames: ServerFrameParts
  instances: InstanceService
  globals: GlobalService
  rewiring: RewiringService
}

/** What the form shows besides what is typed. */
type Shown = {
  problem?: string | undefined
  /** Beside the fields `name` and `description`. */
  errors?: Readonly<Record<string, string>>
  findings?: Findings
  isConflict?: boolean
  /** When the one who sends the form again has seen what it would write over. */
  version?: Date | undefined
  done?: string | undefined
}

const noInstance = () => new AppError('not_found', 'There is no such tool in this server.')

type PlacedErrors = Required<Pick<Shown, 'errors' | 'findings'>> & Pick<Shown, 'problem'>

/** Where an error of the service belongs: beside a field, beside a parameter, or above them all. */
const placeErrors = ({ errors = [], message }: AppError): PlacedErrors => {
  const ofParameters = errors.flatMap(({ path, message: text }): [string, Finding][] => {
    const parameter = /^(?:bindings|newGlobals)\.(.*)$/s.exec(path)?.[1]
    return parameter === undefined ? [] : [[parameter, { tone: 'danger', text }]]
  })
  const ofFields = errors.flatMap(({ path, message: text }) =>
    path === 'name' || path === 'description' ? [[path, `The ${path} ${text}.`] as const] : [],
  )
  return {
    errors: Object.fromEntries(ofFields),
    findings: byParameter(ofParameters),
    problem: ofFields.length + ofParameters.length === 0 ? message : undefined,
  }
}

/** What was found by looking at the form, and what the service said besides. */
const joinFindings = (found: Findings, said: Findings): Findings =>
  new Map(
    [...new Set([...found.keys(), ...said.keys()])].map(name => {
      const own = found.get(name) ?? []
      // The check of a binding says the same as the service does.
      return [name, own.some(({ tone }) => tone === 'danger') ? own : [...own, ...(said.get(name) ?? [])]]
    }),
  )

/** One tool at work: what it is called, and where each parameter gets its value. */
export const instancePages =
  ({ frames, instances, globals, rewiring }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    const open = async (request: FastifyRequest, server: ServerFrame): Promise<OpenInstance> => {
      const actor = actorOf(request)
      const instance = await instances.getInstance(actor, Params.parse(request.params).instanceId)
      if (instance.serverId !== server.id) throw noInstance()
      const known = knownGlobalsOf(await globals.listAllGlobals(actor, server.id))
      return { instance, compiled: assertDefinition(instance.tool), globals: known }
    }

    const toInstancePage = async (server: ServerFrame, opened: OpenInstance, typed: TypedInstance, shown: Shown) => {
      const { instance } = opened
      const path = instancePath(server.id, instance.id)
      const findings = joinFindings(findFindings(opened, typed), shown.findings ?? new Map())
      return {
        title: `${instance.name} in ${server.name}`,
        server,
        path,
        toolsHref: serverTabPath(server.id, 'tools'),
        globalsHref: serverTabPath(server.id, 'globals'),
        instance: {
          name: instance.name,
          toolName: instance.tool.name,
          method: instance.tool.method,
          url: instance.tool.url,
          toolDescription: instance.tool.description,
          toolHref: instance.tool.originId === undefined ? `/tools/${instance.tool.id}` : undefined,
          changed: timeText(instance.updatedAt),
          changedAt: instance.updatedAt.toISOString(),
        },
        typed: { name: typed.name, description: typed.description },
        version: (shown.version ?? instance.updatedAt).toISOString(),
        parameters: toParameterFields(opened, typed, findings),
        lost: lostParameters(opened).join(', '),
        seen: await toSeen(opened, typed),
        errors: shown.errors ?? {},
        problem: shown.problem,
        done: shown.done,
        conflict: shown.isConflict ? compareTyped(opened, typed) : undefined,
      }
    }

    const show = async (
      reply: FastifyReply,
      server: ServerFrame,
      {
        opened,
        typed,
        status = 200,
        ...shown
      }: Shown & { opened: OpenInstance; typed: TypedInstance; status?: number },
    ): Promise<FastifyReply> =>
      reply.page('servers/instance', await toInstancePage(server, opened, typed, shown), { status })

    app.get('/servers/:uuid/tools/:instanceId', { config, schema }, async (request, reply) => {
      const server = await frameOf(frames, request, 'tools')
      const opened = await open(request, server)
      const typed = typedOf(opened.instance, opened.compiled.parameters)
      return show(reply, server, { opened, typed, done: doneNote(request, server, DONE) })
    })

    const save = async (
      request: FastifyRequest,
      { instance, compiled }: OpenInstance,
      typed: TypedInstance,
    ): Promise<void> => {
      assertGlobalsChosen(typed)
      const { name, description } = parseInput(UpdateInstance, {
        name: typed.name,
        description: typed.description === '' ? null : typed.description,
      })
      await rewiring.saveInstance(actorOf(request), instance.id, {
        patch: { name, description, bindings: bindingsFrom(typed, compiled.parameters) },
        newGlobals: newGlobalsFrom(typed),
        ifUnchangedSince: versionOf(typed),
      })
    }

    app.post('/servers/:uuid/tools/:instanceId', { config, schema }, async (request, reply) => {
      const server = await frameForChange(frames, request, 'tools')
      const opened = await open(request, server)
      const typed = readTyped(request.body, opened.compiled.parameters)
      try {
        await save(request, opened, typed)
        return redirectDone(reply, instancePath(server.id, opened.instance.id), 'saved')
      } catch (error) {
        if (!(error instanceof AppError) || error.code === 'internal') throw error
        const isConflict = error.errors?.some(({ path }) => path === CHANGED_MEANWHILE) === true
        // What somebody else saved meanwhile was perhaps not there yet when it was read.
        const current = isConflict ? await open(request, server) : opened
        // Only who was told of the other version may write over it.
        const version = isConflict ? current.instance.updatedAt : versionOf(typed)
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

    /** How it would be, without saving it. */
    app.post('/servers/:uuid/tools/:instanceId/preview', { config, schema }, async (request, reply) => {
      const server = await frameForChange(frames, request, 'tools')
      const opened = await open(request, server)
      const typed = readTyped(request.body, opened.compiled.parameters)
      if (!isFragmentRequest(request)) return show(reply, server, { opened, typed, version: versionOf(typed) })
      return reply.fragment('servers/instance-preview', await toInstancePage(server, opened, typed, {}))
    })

    const removalPage = (server: ServerFrame, { instance }: OpenInstance, typed: string): FormPage => ({
      view: 'servers/removal',
      data: {
        title: `Remove ${instance.name}`,
        server,
        question: `Remove ${instance.name}?`,
        consequence: `Clients of ${server.name} cannot call it any more, from now on. How it is wired goes with it; the tool itself stays in its toolkit, and its calls in the history.`,
        blocks: [],
        action: `${instancePath(server.id, instance.id)}/remove`,
        back: instancePath(server.id, instance.id),
        name: instance.name,
        button: 'Remove the tool',
        typed,
      },
      labels: { sure: 'name' },
    })

    app.get('/servers/:uuid/tools/:instanceId/remove', { config, schema }, async (request, reply) => {
      const server = await frameForChange(frames, request, 'tools')
      return showForm(reply, removalPage(server, await open(request, server), ''))
    })

    app.post('/servers/:uuid/tools/:instanceId/remove', { config, schema }, async (request, reply) => {
      const server = await frameForChange(frames, request, 'tools')
      const opened = await open(request, server)
      const { sure } = parseForm(RemovalForm, request.body)
      return submitForm(reply, removalPage(server, opened, sure), async () => {
        assertTypedName(sure, opened.instance.name)
        await instances.removeInstance(actorOf(request), opened.instance.id)
        return redirectDone(reply, serverTabPath(server.id, 'tools'), 'removed')
      })
    })
  }
