import type { Actor } from '../../lib/kernel/actor.ts'
import { bindingOf } from '../../servers/bindings/bindings.ts'
import type { GlobalService } from '../../servers/globals/globals.service.ts'
import type { InstanceService } from '../../servers/tools/instances.service.ts'
import { secretKeyOf } from '../../templates/check-value.ts'

export type MissingSecretsParts = {
  instances: Pick<InstanceService, 'listAllInstances'>
  globals: Pick<GlobalService, 'listAllGlobals' | 'putGlobal'>
}

/** A secret that the server does not have, for parameters that its tools keep as secrets. */
export type MissingSecret = { key: string; tools: readonly string[] }

/** Lists the secrets that a server needs for the parameters that its tools keep as secrets, in the order of the tools. */
export const listMissingSecrets = async (
  { instances, globals }: MissingSecretsParts,
  actor: Actor,
  serverId: string,
): Promise<MissingSecret[]> => {
  const [all, known] = await Promise.all([
    instances.listAllInstances(actor, serverId),
    globals.listAllGlobals(actor, serverId),
  ])
  const isSecret = new Map(known.map(global => [global.key, global.isSecret]))
  const lacking = all.flatMap(({ name: tool, tool: { parameters }, bindings }) =>
    Object.entries(parameters).flatMap(([name, { binding }]) => {
      const bound = bindingOf(bindings, name)
      if (secretKeyOf(binding) === undefined || bound.source !== 'server') return []
      const key = bound.key ?? name
      return isSecret.get(key) === true ? [] : [{ key, tool }]
    }),
  )
  return [...Map.groupBy(lacking, ({ key }) => key)].map(([key, uses]) => ({
    key,
    tools: [...new Set(uses.map(({ tool }) => tool))],
  }))
}
