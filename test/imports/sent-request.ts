import type { MappedSource } from '../../src/imports/mapped-source.ts'
import type { MappedOperation } from '../../src/imports/openapi/imported-operation.ts'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import type { Result } from '../../src/lib/kernel/result.ts'
import { castValue } from '../../src/templates/check-value.ts'
import { checkDefinition } from '../../src/tools/tool-definition.ts'

/** Returns what was read, or throws the error. */
export const sourceOf = async (read: Promise<Result<MappedSource, string>>): Promise<MappedSource> => {
  const source = await read
  if (!source.ok) throw new Error(source.error)
  return source.value
}

/** Returns the operations that are tools, by the names of the tools. */
export const toolsOf = ({ operations }: MappedSource): ReadonlyMap<string, MappedOperation> =>
  new Map(operations.flatMap(operation => ('tool' in operation ? [[operation.tool.name, operation] as const] : [])))

export const toolNamed = (source: MappedSource, name: string): MappedOperation => {
  const tool = toolsOf(source).get(name)
  if (tool === undefined) throw new Error(`there is no tool ${name}`)
  return tool
}

/** Returns the only operation, which is a tool. */
export const onlyTool = ({ operations }: MappedSource): MappedOperation => {
  const [operation, more] = operations
  if (operation === undefined || more !== undefined) throw new Error(`there are ${operations.length} operations`)
  if ('reason' in operation) throw new Error(operation.reason)
  return operation
}

export type SentRequest = { method: string; url: string; headers: Record<string, string>; body: string | undefined }

/** Returns the request that a tool sends with these arguments, on a server that has the globals of the source. */
export const requestOf = (
  { tool }: MappedOperation,
  { globals }: Pick<MappedSource, 'globals'>,
  args: JsonObject = {},
): SentRequest => {
  const checked = checkDefinition(tool)
  if (!checked.ok) throw new Error(JSON.stringify(checked.error))
  const byKey = new Map(globals.map(({ key, value }) => [key, value]))
  const values = checked.value.parameters.flatMap(({ parameter: { name, type, default: preset }, meta }) => {
    const value = meta.binding?.source === 'server' ? byKey.get(meta.binding.key) : (args[name] ?? preset)
    const cast = value === undefined ? undefined : castValue(type, value, meta.binding ? 'text' : 'caller')
    return cast?.ok ? [[name, cast.value] as const] : []
  })
  const rendered = checked.value.template.render(new Map(values))
  if (!rendered.ok) throw new Error(`${rendered.error.parameter} ${rendered.error.message}`)
  const { method, url, headers, body } = rendered.value
  return { method, url, headers: Object.fromEntries(headers), body }
}
