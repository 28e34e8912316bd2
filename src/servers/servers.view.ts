import type { z } from 'zod'
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/kernel/json.ts'
import { serverUrl } from '../lib/kernel/server-url.ts'
import { inputSchemaOf } from '../templates/input-schema.ts'
import type { ToolDefinition } from '../tools/tool.ts'
import { type CompiledDefinition, checkDefinition } from '../tools/tool-definition.ts'
import { bindingOf } from './bindings/bindings.ts'
import { toContextView } from './context-rules.ts'
import type { Binding, Bindings, Global, Instance, Server } from './server.ts'
import type {
  BindingInput,
  BindingRow,
  GlobalView,
  InstanceView,
  ServerView,
  UsedToolkitView,
} from './servers.schema.ts'
import { type ShownAs, toShownAsView } from './settings/shown-as.ts'
import type { UsedToolkit } from './sources/toolkit-uses.service.ts'

const timesOf = ({ createdAt, updatedAt }: { createdAt: Date; updatedAt: Date }) => ({
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
})

export const toServerView = (server: Server, baseUrl: string, shownAs?: ShownAs): z.infer<typeof ServerView> => ({
  id: server.id,
  uuid: server.id,
  organizationId: server.organizationId,
  ownerId: server.ownerId,
  name: server.name,
  description: server.description ?? null,
  access: server.access,
  allowedUsers: [...server.allowedUserIds],
  presentation: server.presentation,
  reviewUpstreamChanges: server.reviewUpstreamChanges,
  ...toContextView(server),
  shownAs: shownAs === undefined ? null : toShownAsView(shownAs),
  url: serverUrl(baseUrl, server.id),
  ...timesOf(server),
})

export const toUsedToolkitView = (used: UsedToolkit): z.infer<typeof UsedToolkitView> => ({
  id: used.id,
  title: used.title,
  snapshot:
    used.snapshot === undefined
      ? null
      : { takenAt: used.snapshot.takenAt.toISOString(), update: used.snapshot.update ?? null },
  ...timesOf(used),
})

export const toGlobalView = (global: Global): z.infer<typeof GlobalView> =>
  global.isSecret
    ? { id: global.id, key: global.key, secret: true, ...timesOf(global) }
    : { id: global.id, key: global.key, value: global.value, secret: false, ...timesOf(global) }

const toBinding = (input: BindingInput): Binding => {
  switch (input.source) {
    case 'instance':
      return { source: 'instance', value: input.value }
    case 'server':
      return { source: 'server', key: input.value ?? undefined }
    case 'exposed':
      return { source: 'exposed' }
  }
}

export const toBindings = (input: Record<string, BindingInput>): Bindings =>
  Object.fromEntries(Object.entries(input).map(([name, binding]) => [name, toBinding(binding)]))

const toBindingView = (binding: Binding): { source: string; value?: JsonValue } => {
  switch (binding.source) {
    case 'instance':
      return { source: 'instance', value: binding.value }
    case 'server':
      return { source: 'server', ...(binding.key === undefined ? {} : { value: binding.key }) }
    case 'exposed':
      return { source: 'exposed' }
  }
}

/** Removes bound parameters from a custom input schema. */
const withoutBound = (schema: JsonObject, isExposed: (name: string) => boolean): JsonObject => {
  const { properties, required, ...rest } = schema
  const needed = Array.isArray(required) ? required.filter(name => typeof name !== 'string' || isExposed(name)) : []
  return {
    ...rest,
    ...(isJsonObject(properties)
      ? { properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isExposed(name))) }
      : {}),
    ...(needed.length === 0 ? {} : { required: needed }),
  }
}

/** Returns the input schema of an instance, with its exposed parameters only. */
export const exposedSchemaOf = (
  tool: ToolDefinition,
  { parameters }: CompiledDefinition,
  bindings: Bindings,
): JsonObject => {
  const isExposed = (name: string) => bindingOf(bindings, name).source === 'exposed'
  if (tool.inputSchema !== undefined) return withoutBound(tool.inputSchema, isExposed)
  return inputSchemaOf(parameters.filter(({ parameter }) => isExposed(parameter.name)))
}

export const toInstanceView = (instance: Instance): z.infer<typeof InstanceView> => {
  const compiled = checkDefinition(instance.tool)
  return {
    id: instance.id,
    serverId: instance.serverId,
    toolId: instance.tool.originId ?? instance.tool.id,
    name: instance.name,
    description: instance.description ?? null,
    maxResponseTokens: instance.maxResponseTokens ?? null,
    bindings: Object.fromEntries(
      Object.entries(instance.bindings).map(([name, binding]) => [name, toBindingView(binding)]),
    ),
    inputSchema: compiled.ok ? exposedSchemaOf(instance.tool, compiled.value, instance.bindings) : { type: 'object' },
    ...timesOf(instance),
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
      row.instances.push({ id, name, ...toBindingView(bindingOf(bindings, parameter.name)) })
    }
  }
  return [...rows.values()].sort((a, b) => (a.parameter < b.parameter ? -1 : a.parameter > b.parameter ? 1 : 0))
}
