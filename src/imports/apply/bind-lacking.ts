import type { Transaction } from '../../lib/db/client.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { createPause } from '../../lib/worker/pause.ts'
import { findBindingFaults } from '../../servers/bindings/binding-checks.ts'
import { bindAll } from '../../servers/bindings/bindings.store.ts'
import { listGlobals } from '../../servers/globals/globals.store.ts'
import { type Binder, createGlobalLookup, settleOrigins } from '../../servers/origins/secret-origins.ts'
import { type KeyUse, listKeyUses } from '../../servers/origins/tool-origins.ts'
import type { Binding } from '../../servers/server.ts'
import type { LackingInstance } from './lacking-bindings.ts'
import type { GlobalPlan } from './plan-globals.ts'
import { lackingOn } from './server-globals.ts'

/** Binds what instances of a server lack to the globals of a plan, which exist or are filled in later. */
export const bindLacking = async (
  tx: Transaction,
  { sealing, ...binder }: Binder & { sealing: Sealing },
  instances: readonly LackingInstance[],
  plan: GlobalPlan,
): Promise<void> => {
  if (instances.length === 0) return
  const globals = await listGlobals(tx, binder.server.id)
  const secretKeys = new Set(globals.flatMap(({ key, isSecret }) => (isSecret ? key : [])))
  const find = createGlobalLookup(globals, sealing)
  const pause = createPause()
  const uses: KeyUse[] = []
  const added: { instanceId: string; parameter: string; binding: Binding }[] = []
  for (const instance of instances) {
    const { definition: tool, compiled } = instance.prepared
    const changed = lackingOn(instance, plan)
    const bindings = { ...instance.bindings, ...changed }
    // Bindings made by hand may let a caller choose where the secret is sent. Then a builder has to bind it.
    const faults = findBindingFaults(compiled, { tool, bindings }, { isSecret: key => secretKeys.has(key), changed })
    if (faults.length > 0) continue
    uses.push(...listKeyUses(tool, compiled, bindings, find).filter(({ path }) => Object.hasOwn(changed, path)))
    for (const [parameter, binding] of Object.entries(changed)) {
      added.push({ instanceId: instance.id, parameter, binding })
    }
    await pause()
  }
  await bindAll(tx, binder.server.id, added)
  // Secrets that the server has were chosen by their origins, so none is refused.
  await settleOrigins(tx, binder, globals, uses)
}
