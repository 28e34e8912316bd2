import type { ImportedOperation, MappedOperation } from '../../src/imports/openapi/imported-operation.ts'
import type { DescriptionDocument } from '../../src/imports/read/documents.ts'
import { type ReadOptions, readDescription } from '../../src/imports/read-description.ts'
import type { JsonObject, JsonValue } from '../../src/lib/kernel/json.ts'
import { compileTemplate } from '../../src/templates/compile.ts'
import type { RenderedRequest } from '../../src/templates/template.ts'

export const document = (content: string | JsonObject, name = 'openapi.json'): DescriptionDocument => ({
  name,
  bytes: Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)),
})

/** Reads a description with all of its operations. Throws if it is refused. */
export const readAll = async (documents: readonly DescriptionDocument[], options?: ReadOptions) => {
  const read = readDescription(documents, options)
  if (!read.ok) throw new Error(read.error)
  const { summary, batches } = read.value
  const operations: ImportedOperation[] = []
  for (;;) {
    const batch = await batches.next()
    if (batch.done === true) return { summary, operations, outcome: batch.value }
    operations.push(...batch.value)
  }
}

/** Returns why a description is refused. */
export const refusalOf = (content: string | Uint8Array): string | undefined => {
  const read = readDescription([{ name: 'given', bytes: typeof content === 'string' ? Buffer.from(content) : content }])
  return read.ok ? undefined : read.error
}

/** Returns a description with these parts and little else. */
export const descriptionOf = (parts: JsonObject, version = '3.1.0'): JsonObject => ({
  openapi: version,
  info: { title: 'Test', version: '1' },
  servers: [{ url: 'https://api.example.com' }],
  ...parts,
})

/** Reads all operations of a description made from parts. */
export const readParts = async (parts: JsonObject, version?: string) =>
  (await readAll([document(descriptionOf(parts, version))])).operations

export const isTool = (operation: ImportedOperation): operation is MappedOperation => 'tool' in operation

/** Returns the only tool of a list of operations. */
export const onlyTool = (operations: readonly ImportedOperation[]): MappedOperation => {
  const [only, ...others] = operations
  if (only === undefined || others.length > 0) throw new Error(`there are ${operations.length} operations`)
  if (!isTool(only)) throw new Error(only.reason)
  return only
}

type Place = { method?: string; path?: string; components?: JsonObject; version?: string; parts?: JsonObject }

/** Returns the tool for one operation. */
export const toolOf = async (operation: JsonObject, place: Place = {}): Promise<MappedOperation> => {
  const { method = 'get', path = '/items', components = {}, version, parts = {} } = place
  const paths = { [path]: { [method]: { responses: {}, ...operation } } }
  return onlyTool(await readParts({ paths, components, ...parts }, version))
}

/** Returns the tool for an operation with this JSON body. */
export const bodyTool = (schema: JsonValue, place: Place & { required?: boolean } = {}): Promise<MappedOperation> => {
  const { required = true, ...others } = place
  const requestBody = { required, content: { 'application/json': { schema } } }
  return toolOf({ requestBody }, { method: 'post', ...others })
}

/** Renders a tool's request. Throws if it is refused. */
export const render = (
  { tool }: Pick<MappedOperation, 'tool'>,
  values: Readonly<Record<string, JsonValue>> = {},
): RenderedRequest => {
  const compiled = compileTemplate(tool)
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.error))
  const rendered = compiled.value.render(new Map(Object.entries({ base_url: 'https://api.example.com', ...values })))
  if (!rendered.ok) throw new Error(`${rendered.error.parameter} ${rendered.error.message}`)
  return rendered.value
}
