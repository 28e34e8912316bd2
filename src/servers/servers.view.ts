import type { z } from 'zod'
import { serverUrl } from '../lib/kernel/server-url.ts'
import { checkDefinition } from '../tools/tool-definition.ts'
import { bindingOf, toBindingFields } from './bindings/bindings.ts'
import { exposedSchemaOf } from './bindings/exposed-schema.ts'
import type { ClosedServer, Global, Instance, Server } from './server.ts'
import type { BindingRow } from './servers.schema.ts'
import { type ShownAs, toShownAsView } from './settings/shown-as.ts'

export const toServerView = (server: Server, baseUrl: string, shownAs?: ShownAs) => ({
  ...server,
  uuid: server.id,
  allowedUsers: server.allowedUserIds,
  shownAs: shownAs === undefined ? null : toShownAsView(shownAs),
  url: serverUrl(baseUrl, server.id),
})

export const toClosedServerView = ({ isClosed: closed, ...server }: ClosedServer) => ({
  ...server,
  uuid: server.id,
  closed,
})

export const toGlobalView = (global: Global) =>
  global.isSecret
    ? { ...global, secret: true as const, origins: global.origins === undefined ? null : [...global.origins] }
    : { ...global, secret: false as const }

export const toInstanceView = (instance: Instance) => {
  const compiled = checkDefinition(instance.tool)
  return {
    ...instance,
    toolId: instance.tool.originId ?? instance.tool.id,
    enabled: instance.isEnabled,
    bindings: Object.fromEntries(
      Object.entries(instance.bindings).map(([name, binding]) => [name, toBindingFields(binding)]),
    ),
    inputSchema: compiled.ok ? exposedSchemaOf(instance.tool, compiled.value, instance.bindings) : { type: 'object' },
  }
}

/**
 * Returns a server's binding matrix. Each row is a parameter name and type, with the source of the value in each tool.
 */
export const toBindingRows = (instances: readonly Instance[]): z.infer<typeof BindingRow>[] => {
  const rows = new Map<string, z.infer<typeof BindingRow>>()
  for (const { id, name, tool, bindings } of instances) {
    const compiled = checkDefinition(tool)
    for (const { parameter } of compiled.ok ? compiled.value.parameters : []) {
      const key = `${parameter.name}:${parameter.type}`
      const row = rows.get(key) ?? { parameter: parameter.name, type: parameter.type, instances: [] }
      rows.set(key, row)
      row.instances.push({ id, name, ...toBindingFields(bindingOf(bindings, parameter.name)) })
    }
  }
  return [...rows.values()].sort((a, b) => (a.parameter < b.parameter ? -1 : a.parameter > b.parameter ? 1 : 0))
}
