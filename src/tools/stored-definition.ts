import type { RequestTemplate } from '../templates/template.ts'
import { type ToolDefinition, ToolDocument } from './tool.ts'

const StoredTemplate = ToolDocument.pick({ method: true, url: true, headers: true, body: true })

/** Parses only the request template. Parsing 2,000 complete definitions takes several times as long. */
export const templateOf = (definition: unknown): RequestTemplate => StoredTemplate.parse(definition)

/** Parses all of a definition except the name, title and description. */
export const parseDocument = (definition: unknown) => ToolDocument.parse(definition)

export const toStored = (definition: ToolDefinition) => {
  const { name, title, description, ...document } = definition
  // Parsing drops undefined values and unknown keys.
  return {
    name,
    title: title ?? null,
    description: description ?? null,
    definition: JSON.parse(JSON.stringify(ToolDocument.parse(document))),
  }
}
