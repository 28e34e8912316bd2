import { type Actor, AppError, assertMay, type FieldError, organizationIdsOf } from '../kernel/index.ts'
import { isUniqueViolation, type Transaction } from '../platform/db/index.ts'
import type { IdPage } from '../platform/http/index.ts'
import { assertDefinition, type CompiledDefinition } from '../toolkits/index.ts'
import { explainSecretAtRisk, fillFixedValue, findSecretAtRisk, GLOBAL_KEY, globalKeysOf } from './bindings.ts'
import { listGlobals } from './globals.store.ts'
import * as store from './instances.store.ts'
import type { Binding, Bindings, Instance, Server } from './server.ts'
import { getServerFor, type ServerServiceParts } from './servers.service.ts'
import { addUse, findToolForServer } from './toolkit-uses.store.ts'

const noInstance = () => new AppError('not_found', 'There is no such instance.')

const rethrowTaken = (name: string | undefined) => (error: unknown) => {
  if (!isUniqueViolation(error)) throw error
  throw new AppError('conflict', `This server has a tool named "${name}" already.`, {
    errors: [{ path: 'name', message: 'is taken in this server' }],
  })
}

/** Why a binding cannot be: its parameter is unknown, its key is none, or its fixed value does not fit. */
const bindingError = ({ parameters }: CompiledDefinition, name: string, binding: Binding): string | undefined => {
  const compiled = parameters.find(({ parameter }) => parameter.name === name)
  if (compiled === undefined) {
    const known = parameters.map(({ parameter }) => `"${parameter.name}"`).join(', ')
    return known === '' ? 'the tool has no parameters' : `the tool has no such parameter; it has ${known}`
  }
  if (binding.source === 'server' && binding.key !== undefined && !GLOBAL_KEY.test(binding.key)) {
    return 'value is no key of a global'
  }
  if (binding.source !== 'instance' || globalKeysOf(name, binding).size > 0) return undefined
  // No global is in it, but a literal brace pair may be.
  const checked = compiled.check(
    fillFixedValue(compiled, binding.value, key => key),
    'text',
  )
  return checked.ok ? undefined : `value must be ${checked.error.expected}, not ${checked.error.got}`
}

const NO_TOOL =
  'is no tool of a toolkit that this server may use: add its toolkit to the server first, or accept its waiting update'

/**
 * Answers the id of the tool itself, or of its copy in a snapshot that the server holds. A toolkit of the
 * organization's own is added to the server with its first tool.
 */
const takeTool = async (tx: Transaction, server: Server, toolId: string): Promise<string> => {
  const tool = await findToolForServer(tx, server, toolId)
  if (tool === undefined) {
    throw new AppError('invalid_request', `The tool ${NO_TOOL}.`, { errors: [{ path: 'toolId', message: NO_TOOL }] })
  }
  await addUse(tx, server.id, tool.toolkitId)
  return tool.id
}

const assertBindings = async (
  tx: Transaction,
  serverId: string,
  instance: { tool: Instance['tool']; bindings: Bindings },
): Promise<void> => {
  const compiled = assertDefinition(instance.tool)
  const errors: FieldError[] = Object.entries(instance.bindings).flatMap(([name, binding]) => {
    const message = bindingError(compiled, name, binding)
    return message === undefined ? [] : [{ path: `bindings.${name}`, message }]
  })
  if (errors.length > 0) throw new AppError('invalid_request', 'Not every binding can be: see errors.', { errors })
  const secretKeys = new Set((await listGlobals(tx, serverId)).flatMap(g => (g.isSecret ? g.key : [])))
  const risk = findSecretAtRisk(compiled, instance.tool, instance.bindings, key => secretKeys.has(key))
  if (risk === undefined) return
  const message = explainSecretAtRisk(risk)
  throw new AppError('invalid_request', message, { errors: [{ path: `bindings.${risk.boundAt}`, message }] })
}

export const createInstanceService = ({
  db,
  changes,
  maxToolsPerServer,
}: ServerServiceParts & { maxToolsPerServer: number }) => {
  const getForChange = async (tx: Transaction, actor: Actor, id: string): Promise<Instance> => {
    const found = await store.findInstance(tx, id, organizationIdsOf(actor))
    if (found === undefined) throw noInstance()
    assertMay(actor, found.organizationId, 'build')
    return found.instance
  }

  const assertRoom = async (tx: Transaction, serverId: string): Promise<void> => {
    if ((await store.countInstances(tx, serverId)) < maxToolsPerServer) return
    throw new AppError(
      'limit_exceeded',
      `A server holds at most ${maxToolsPerServer} tools (PATCHBAY_MAX_TOOLS_PER_SERVER).`,
    )
  }

  return {
    /** Puts a tool to work; its toolkit, when it is the organization's own, is added to the server with it. */
    createInstance: (
      actor: Actor,
      serverId: string,
      input: { toolId: string; name: string; description?: string | undefined; bindings: Bindings },
    ): Promise<Instance> =>
      changes
        .commit(async (tx, announce) => {
          const server = await getServerFor(tx, actor, serverId, 'build')
          const toolId = await takeTool(tx, server, input.toolId)
          await assertRoom(tx, serverId)
          const { name, description, bindings } = input
          const instance = await store.createInstance(tx, { serverId, toolId, name, description, bindings })
          await assertBindings(tx, serverId, instance)
          announce({ type: 'server_changed', serverId })
          return instance
        })
        .catch(rethrowTaken(input.name)),

    getInstance: async (actor: Actor, id: string): Promise<Instance> => {
      const found = await store.findInstance(db, id, organizationIdsOf(actor))
      if (found === undefined) throw noInstance()
      return found.instance
    },

    /** For what needs the right to build, such as calling it from the API. */
    getInstanceForChange: (actor: Actor, id: string): Promise<Instance> => getForChange(db, actor, id),

    listInstances: async (actor: Actor, serverId: string, page: IdPage): Promise<Instance[]> => {
      await getServerFor(db, actor, serverId, 'read')
      return store.listInstances(db, serverId, page)
    },

    listAllInstances: async (actor: Actor, serverId: string): Promise<Instance[]> => {
      await getServerFor(db, actor, serverId, 'read')
      return store.listAllInstances(db, serverId)
    },

    updateInstance: (actor: Actor, id: string, patch: store.InstancePatch): Promise<Instance> =>
      changes
        .commit(async (tx, announce) => {
          const { serverId } = await getForChange(tx, actor, id)
          const server = await getServerFor(tx, actor, serverId, 'build')
          const toolId = patch.toolId === undefined ? undefined : await takeTool(tx, server, patch.toolId)
          const instance = await store.updateInstance(tx, id, { ...patch, toolId })
          if (patch.bindings || toolId !== undefined) await assertBindings(tx, serverId, instance)
          announce({ type: 'server_changed', serverId })
          return instance
        })
        .catch(rethrowTaken(patch.name)),

    removeInstance: (actor: Actor, id: string): Promise<void> =>
      changes.commit(async (tx, announce) => {
        const { serverId } = await getForChange(tx, actor, id)
        await store.removeInstance(tx, id)
        announce({ type: 'server_changed', serverId })
      }),
  }
}

export type InstanceService = ReturnType<typeof createInstanceService>
