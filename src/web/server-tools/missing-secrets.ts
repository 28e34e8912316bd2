import type { Actor } from '../../lib/kernel/actor.ts'
import { bindingOf } from '../../servers/bindings/bindings.ts'
import { writtenOriginOf } from '../../servers/bindings/taken-keys.ts'
import type { GlobalService } from '../../servers/globals/globals.service.ts'
import type { InstanceService } from '../../servers/tools/instances.service.ts'
import { secretKeyOf } from '../../templates/check-value.ts'

export type MissingSecretsParts = {
  instances: Pick<InstanceService, 'listAllInstances'>
  globals: Pick<GlobalService, 'listAllGlobals' | 'putGlobal'>
}

/** A secret that the server does not have, for parameters that its tools keep as secrets. */
export type MissingSecret = {
  key: string
  tools: readonly string[]
  /** Where the tools send it. Undefined if a parameter decides that for one of them. */
  origins: readonly string[] | undefined
  /** Whether the key is that of a global that is not a secret, which storing the secret replaces. */
  isPlain: boolean
}

const known = (origins: readonly (string | undefined)[]): readonly string[] | undefined => {
  const written = origins.filter(origin => origin !== undefined)
  return written.length === origins.length ? [...new Set(written)] : undefined
}

/** Lists the secrets that a server needs for the parameters that its tools keep as secrets, in the order of the tools. */
export const listMissingSecrets = async (
  { instances, globals }: MissingSecretsParts,
  actor: Actor,
  serverId: string,
): Promise<MissingSecret[]> => {
  const [all, stored] = await Promise.all([
    instances.listAllInstances(actor, serverId),
    globals.listAllGlobals(actor, serverId),
  ])
  const isSecret = new Map(stored.map(global => [global.key, global.isSecret]))
  const lacking = all.flatMap(({ name, tool: { parameters, url }, bindings }) =>
    Object.entries(parameters).flatMap(([parameter, { binding }]) => {
      const bound = bindingOf(bindings, parameter)
      if (secretKeyOf(binding) === undefined || bound.source !== 'server') return []
      const key = bound.key ?? parameter
      return isSecret.get(key) === true ? [] : [{ key, tool: name, origin: writtenOriginOf(url) }]
    }),
  )
  return [...Map.groupBy(lacking, ({ key }) => key)].map(([key, uses]) => ({
    key,
    tools: [...new Set(uses.map(({ tool }) => tool))],
    origins: known(uses.map(({ origin }) => origin)),
    isPlain: isSecret.has(key),
  }))
}
