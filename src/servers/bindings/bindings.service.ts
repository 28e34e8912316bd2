import { rethrowTaken } from '../../lib/db/failures.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import type { Unchanged } from '../../lib/kernel/conflicts.ts'
import { AppError, type FieldError } from '../../lib/kernel/errors.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { checkDefinition } from '../../tools/tool-definition.ts'
import { listUpstreamsReferringTo } from '../../upstreams/global-uses.ts'
import { createGlobalIn, type GlobalInput } from '../globals/globals.service.ts'
import { listGlobals } from '../globals/globals.store.ts'
import { createGlobalLookup, settleOrigins, usesOfInstance } from '../origins/secret-origins.ts'
import type { Binding, Global, Instance } from '../server.ts'
import { getServerFor, type ServerServiceParts } from '../servers.service.ts'
import { changeInstance } from '../tools/instances.service.ts'
import { type InstancePatch, listInstancesById } from '../tools/instances.store.ts'
import { findBindingFaults, toBindingOf, type WantedBinding } from './binding-checks.ts'
import { bindAll, listWiredTools, type WiredTool } from './bindings.store.ts'
import { globalKeysOf } from './bindings.ts'
import { createOutlineIndex } from './server-wiring.ts'
import { knownGlobalsOf, type Socket, socketsOf } from './sockets.ts'

export type SocketAddress = { instanceId: string; parameter: string }

/** An instance with the source of each parameter's value. */
export type WiredPanel = Pick<WiredTool, 'id' | 'name' | 'isEnabled' | 'tool' | 'toolkit'> & {
  sockets: readonly Socket[]
}

type ToolUse = { instanceId: string; tool: string; parameters: readonly string[] }

export type GlobalUses = { tools: readonly ToolUse[]; upstreams: readonly { id: string; name: string }[] }

/** Maximum number of bindings changed at once. More would delay other changes for seconds. */
const MAX_SOCKETS_AT_ONCE = 10_000
/** Most bytes of fixed values written at once, as each binding stores its own copy. About the size of a request. */
const MAX_REWIRED_BYTES = 4 * 1_024 * 1_024

const assertNotTooMany = (sockets: number, wanted: WantedBinding): void => {
  if (sockets > MAX_SOCKETS_AT_ONCE) {
    const message = `You can change at most ${MAX_SOCKETS_AT_ONCE} bindings at once, and you selected ${sockets}. Select fewer rows, or search for some of the tools.`
    throw new AppError('invalid_request', message)
  }
  const bytes = wanted.source === 'fixed' ? Buffer.byteLength(wanted.text) * sockets : 0
  if (bytes <= MAX_REWIRED_BYTES) return
  const message = `The value would be stored for each of ${sockets} bindings, ${bytes} bytes in total; the limit is ${MAX_REWIRED_BYTES} bytes. Create a global with the value, and bind the parameters to it.`
  throw new AppError('invalid_request', message)
}

const rewire = (
  instance: Instance,
  parameters: readonly string[],
  wanted: WantedBinding,
  isSecret: (key: string) => boolean,
): { bindings: Instance['bindings']; faults: { parameter: string; message: string }[] } => {
  const compiled = checkDefinition(instance.tool)
  const known = new Map(compiled.ok ? compiled.value.parameters.map(one => [one.parameter.name, one]) : [])
  const changed: Record<string, Binding> = {}
  const faults: { parameter: string; message: string }[] = []
  for (const name of parameters) {
    const parameter = known.get(name)
    if (parameter === undefined) faults.push({ parameter: name, message: 'the tool has no such parameter' })
    else changed[name] = toBindingOf(parameter, wanted)
  }
  if (!compiled.ok || faults.length > 0) return { bindings: changed, faults }
  // Faults of bindings that were not selected are ignored.
  const after = { tool: instance.tool, bindings: { ...instance.bindings, ...changed } }
  return { bindings: changed, faults: findBindingFaults(compiled.value, after, { isSecret, changed }) }
}

const refuse = (errors: readonly FieldError[], tools: number): AppError =>
  new AppError(
    'invalid_request',
    `Nothing was changed, because ${tools === 1 ? 'one of the tools does' : `${tools} of the tools do`} not accept this binding.`,
    { errors },
  )

/** A global for one of an instance's parameters, created when the instance is saved. */
export type NewGlobal = GlobalInput & { parameter: string; key: string }

/** Reports an error about a new global at the parameter that the global was created for. */
const nameParameter = (parameter: string) => (error: unknown) => {
  if (!(error instanceof AppError)) throw error
  const errors = [{ path: `newGlobals.${parameter}`, message: error.message }]
  throw new AppError(error.code, error.message, { cause: error, errors })
}

export const createRewiringService = ({ db, changes, sealing }: ServerServiceParts & { sealing: Sealing }) => {
  const readOutlines = createOutlineIndex()

  return {
    /** Lists all instances of a server, sorted by name, with the source of each parameter's value. */
    listPanels: async (actor: Actor, serverId: string): Promise<WiredPanel[]> => {
      await getServerFor(db, actor, serverId, 'read')
      const tools = await listWiredTools(db, serverId)
      const outlineOf = await readOutlines(db, serverId, tools)
      const globals = knownGlobalsOf(await listGlobals(db, serverId))
      return tools.map(({ bindings, ...rest }) => ({
        ...rest,
        sockets: socketsOf(outlineOf(rest)?.parameters ?? [], bindings, globals),
      }))
    },

    /** Returns those of the instances that belong to the server, sorted by name. */
    listInstancesById: async (actor: Actor, serverId: string, ids: readonly string[]): Promise<Instance[]> => {
      await getServerFor(db, actor, serverId, 'read')
      return listInstancesById(db, serverId, ids)
    },

    /** Returns where each global of the server is used, by key. Includes keys that are used but have no global. */
    listGlobalUses: async (actor: Actor, serverId: string): Promise<ReadonlyMap<string, GlobalUses>> => {
      await getServerFor(db, actor, serverId, 'read')
      const tools = await listWiredTools(db, serverId)
      const outlineOf = await readOutlines(db, serverId, tools)
      const uses = new Map<string, ToolUse[]>()
      for (const tool of tools) {
        const read = (outlineOf(tool)?.parameters ?? []).flatMap(({ name }) => {
          const binding = tool.bindings[name]
          return binding === undefined ? [] : [...globalKeysOf(name, binding)].map(key => ({ key, name }))
        })
        for (const [key, found] of Map.groupBy(read, one => one.key)) {
          const use = { instanceId: tool.id, tool: tool.name, parameters: found.map(({ name }) => name) }
          uses.set(key, [...(uses.get(key) ?? []), use])
        }
      }
      const upstreams = await listUpstreamsReferringTo(db, serverId)
      const keys = [...uses.keys(), ...upstreams.keys()]
      return new Map(keys.map(key => [key, { tools: uses.get(key) ?? [], upstreams: upstreams.get(key) ?? [] }]))
    },

    /**
     * Binds all of the parameters to the same source, or none. Throws `invalid_request` with an error for each
     * `tool.parameter` that cannot be bound.
     */
    bindMany: (
      actor: Actor,
      serverId: string,
      { sockets, wanted }: { sockets: readonly SocketAddress[]; wanted: WantedBinding },
    ): Promise<{ sockets: number; tools: number }> =>
      changes.commit(async (tx, announce) => {
        const server = await getServerFor(tx, actor, serverId, 'build')
        assertNotTooMany(sockets.length, wanted)
        const picked = Map.groupBy(sockets, ({ instanceId }) => instanceId)
        const instances = await listInstancesById(tx, serverId, [...picked.keys()])
        if (instances.length !== picked.size) {
          const message = 'Some of the selected tools no longer exist. Nothing was changed. Select the tools again.'
          throw new AppError('conflict', message)
        }
        const globals = await listGlobals(tx, serverId)
        const secretKeys = new Set(globals.flatMap(({ key, isSecret }) => (isSecret ? key : [])))
        const rewired = instances.map(instance => {
          const parameters = [...new Set((picked.get(instance.id) ?? []).map(({ parameter }) => parameter))]
          return { instance, ...rewire(instance, parameters, wanted, key => secretKeys.has(key)) }
        })
        const errors = rewired.flatMap(({ instance: { name }, faults }) =>
          faults.map(({ parameter, message }) => ({ path: `${name}.${parameter}`, message })),
        )
        if (errors.length > 0) throw refuse(errors, rewired.filter(({ faults }) => faults.length > 0).length)
        const find = createGlobalLookup(globals, sealing)
        const uses = rewired.flatMap(({ instance: { name, tool, bindings: before }, bindings: changed }) =>
          usesOfInstance({ tool, bindings: { ...before, ...changed } }, find).flatMap(({ path, ...use }) =>
            Object.hasOwn(changed, path) ? { ...use, path: `${name}.${path}` } : [],
          ),
        )
        const refused = await settleOrigins(tx, { actor, server }, globals, uses)
        if (refused.length > 0) throw refuse(refused, new Set(refused.map(({ path }) => path.split('.')[0])).size)
        const bindings = rewired.flatMap(({ instance, bindings: changed }) =>
          Object.entries(changed).map(([parameter, binding]) => ({ instanceId: instance.id, parameter, binding })),
        )
        await bindAll(tx, serverId, bindings)
        announce({ type: 'server_changed', serverId })
        return { sockets: bindings.length, tools: instances.length }
      }),

    /** Changes an instance and creates the globals for it, all or nothing. */
    saveInstance: (
      actor: Actor,
      id: string,
      { newGlobals, patch, ...unchanged }: Unchanged & { patch: InstancePatch; newGlobals: readonly NewGlobal[] },
    ): Promise<{ instance: Instance; globals: Global[] }> =>
      changes
        .commit(async (tx, announce) => {
          // Checks the permission and the version before globals are created.
          const { serverId } = await changeInstance(tx, actor, id, { patch: {}, sealing, ...unchanged })
          const server = await getServerFor(tx, actor, serverId, 'build')
          const globals: Global[] = []
          for (const { parameter, key, ...input } of newGlobals) {
            globals.push(
              await createGlobalIn(tx, { actor, server, sealing }, key, input).catch(nameParameter(parameter)),
            )
          }
          const stored = newGlobals.map(({ parameter }) => parameter)
          const instance = await changeInstance(tx, actor, id, { patch, sealing, stored })
          announce({ type: 'server_changed', serverId })
          return { instance, globals }
        })
        .catch(rethrowTaken('server', 'a tool', patch.name)),
  }
}

export type RewiringService = ReturnType<typeof createRewiringService>
