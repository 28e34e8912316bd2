import type { Transaction } from '../../lib/db/client.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { orThrow } from '../../lib/kernel/missing.ts'
import { RESERVED_TOOL_PREFIX } from '../../lib/kernel/names.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { createPause } from '../../lib/worker/pause.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import { assertDefinition, type CompiledDefinition } from '../../tools/tool-definition.ts'
import { uniqueToolName } from '../../tools/tool-names.ts'
import { findBindingFaults } from '../bindings/binding-checks.ts'
import { listGlobals } from '../globals/globals.store.ts'
import { type Binder, createGlobalLookup, settleOrigins } from '../origins/secret-origins.ts'
import { type KeyUse, listKeyUses } from '../origins/tool-origins.ts'
import type { Bindings } from '../server.ts'
import * as store from './instances.store.ts'

/**
 * A tool to add to a server, with all bindings of the instance. `isForeign` is whether the tool is a copy of another
 * organization's, whose bindings must not decide where a secret may be sent.
 */
export type InstanceDraft = {
  toolId: string
  name: string
  tool: ToolDefinition
  compiled?: CompiledDefinition | undefined
  bindings: Bindings
  isForeign: boolean
}

/** Creates a function that returns a tool's name on a server: with a number if it is taken, and never a reserved one. */
export const createInstanceNames = async (tx: Transaction, serverId: string): Promise<(name: string) => string> => {
  const taken = new Set(await store.listAllInstanceNames(tx, serverId))
  return name => {
    const free = name.startsWith(RESERVED_TOOL_PREFIX) ? `tool_${name}`.slice(0, 64) : name
    const unique = uniqueToolName(free, taken)
    taken.add(unique)
    return unique
  }
}

const cannotBeAdded = (name: string, message: string): AppError => {
  const errors = [{ path: 'tool', message: `${name}: ${message}` }]
  return new AppError('invalid_request', `The tool "${name}" cannot be added: ${message}`, { errors })
}

/** Instances per statement. Writing this many takes a few milliseconds. */
const INSTANCES_AT_ONCE = 100

const writeInstances = async (tx: Transaction, serverId: string, drafts: readonly InstanceDraft[]): Promise<void> => {
  const pause = createPause()
  for (let at = 0; at < drafts.length; at += INSTANCES_AT_ONCE) {
    const batch = drafts.slice(at, at + INSTANCES_AT_ONCE)
    const ids = await store.createInstances(tx, serverId, batch)
    await pause()
    const created = batch.map(({ name, bindings }) => ({
      id: orThrow(ids.get(name), () => new Error(`the instance ${name} was not created`)),
      bindings,
    }))
    await store.createBindings(tx, created)
    await pause()
  }
}

/** Checks the bindings of one instance. Returns what it reads. */
const checkBindings = (
  { name, tool, bindings, compiled = assertDefinition(tool) }: InstanceDraft,
  isSecret: (key: string) => boolean,
  find: ReturnType<typeof createGlobalLookup>,
): KeyUse[] => {
  const [fault] = findBindingFaults(compiled, { tool, bindings }, { isSecret })
  if (fault !== undefined) {
    const { isSecretAtRisk, parameter, message } = fault
    throw cannotBeAdded(name, isSecretAtRisk ? message : `the value bound to "${parameter}" ${message}.`)
  }
  return listKeyUses(tool, compiled, bindings, find).map(use => ({ ...use, path: `${name}.${use.path}` }))
}

/**
 * Adds tools to a server in the caller's transaction, all or none, with the same checks as one by one: of the bindings,
 * and of where their secrets may be sent. The caller checks permissions and the limit, and announces the change.
 */
export const addInstances = async (
  tx: Transaction,
  { sealing, ...binder }: Binder & { sealing: Sealing },
  drafts: readonly InstanceDraft[],
): Promise<void> => {
  await writeInstances(tx, binder.server.id, drafts)
  const globals = await listGlobals(tx, binder.server.id)
  const secretKeys = new Set(globals.flatMap(({ key, isSecret }) => (isSecret ? key : [])))
  const find = createGlobalLookup(globals, sealing)
  const pause = createPause()
  const uses: KeyUse[] = []
  const chosen = new Set<KeyUse>()
  for (const draft of drafts.filter(({ bindings }) => Object.keys(bindings).length > 0)) {
    const read = checkBindings(draft, key => secretKeys.has(key), find)
    uses.push(...read)
    if (!draft.isForeign) for (const use of read) chosen.add(use)
    await pause()
  }
  const [refused] = await settleOrigins(tx, binder, globals, uses, use => chosen.has(use))
  if (refused !== undefined) throw cannotBeAdded(refused.path.split('.', 1)[0] ?? '', `${refused.message}.`)
}
