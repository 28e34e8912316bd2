import type { z } from 'zod'
import { toViewFields } from '../lib/http/schemas.ts'
import { serverUrl } from '../lib/kernel/server-url.ts'
import { checkDefinition } from '../tools/tool-definition.ts'
import { bindingOf, toBindingFields } from './bindings/bindings.ts'
import { exposedSchemaOf } from './bindings/exposed-schema.ts'
import type { Global, Instance, Server } from './server.ts'
import type { BindingRow, GlobalView, InstanceView, ServerView, UsedToolkitView } from './servers.schema.ts'
import { type ShownAs, toShownAsView } from './settings/shown-as.ts'
import type { UsedToolkit } from './sources/toolkit-uses.service.ts'

export const toServerView = (server: Server, baseUrl: string, shownAs?: ShownAs): z.infer<typeof ServerView> => ({
  ...toViewFields(server),
  uuid: server.id,
  allowedUsers: [...server.allowedUserIds],
  shownAs: shownAs === undefined ? null : toShownAsView(shownAs),
  url: serverUrl(baseUrl, server.id),
})

export const toUsedToolkitView = (used: UsedToolkit): z.infer<typeof UsedToolkitView> => ({
  ...toViewFields(used),
  snapshot: used.snapshot === undefined ? null : toViewFields(used.snapshot),
})

export const toGlobalView = (global: Global): z.infer<typeof GlobalView> => {
  const view = toViewFields({
    id: global.id,
    key: global.key,
    createdAt: global.createdAt,
    updatedAt: global.updatedAt,
  })
  return global.isSecret ? { ...view, secret: true } : { ...view, value: global.value, secret: false }
}

export const toInstanceView = (instance: Instance): z.infer<typeof InstanceView> => {
  const compiled = checkDefinition(instance.tool)
  return {
    ...toViewFields(instance),
    toolId: instance.tool.originId ?? instance.tool.id,
    bindings: Object.fromEntries(
      Object.entries(instance.bindings).map(([name, binding]) => [name, toBindingFields(binding)]),
    ),
    inputSchema: compiled.ok ? exposedSchemaOf(instance.tool, compiled.value, instance.bindings) : { type: 'object' },
  }
}

/** Returns the binding matrix of a server: for each parameter name and type, the source of its value in each tool. */
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
