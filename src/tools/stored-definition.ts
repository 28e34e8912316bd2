import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { NEWEST_RULES, type RequestTemplate } from '../templates/template.ts'
import { StoredParameter, type ToolDefinition, ToolDocument } from './tool.ts'

/** Tools that were saved before rules had versions have none stored. */
const StoredDocument = ToolDocument.extend({ templateRules: ToolDocument.shape.templateRules.default(1) })

const StoredTemplate = StoredDocument.pick({ method: true, url: true, headers: true, body: true, templateRules: true })

/** Parses only the request template. Parsing 2,000 complete definitions takes several times as long. */
export const templateOf = (definition: unknown): RequestTemplate => StoredTemplate.parse(definition)

const StoredDefaults = z.object({
  parameters: z.record(z.string(), StoredParameter.pick({ binding: true, default: true })).default({}),
})

/** Parses only the defaults and default bindings of the parameters. */
export const defaultsOf = (definition: unknown): z.infer<typeof StoredDefaults> => StoredDefaults.parse(definition)

const StoredProblem = StoredDocument.pick({ problem: true })

/** Parses only the reason why the tool cannot be used, if there is one. */
export const problemOf = (definition: unknown): string | undefined => StoredProblem.parse(definition).problem

/** Parses all of a stored definition except the name, title and description. */
export const parseDocument = (definition: unknown) => StoredDocument.parse(definition)

export const toStored = (definition: ToolDefinition) => {
  const { name, title, description, templateRules = NEWEST_RULES, ...document } = definition
  // Parsing drops undefined values and unknown keys.
  return {
    name,
    title: title ?? null,
    description: description ?? null,
    definition: JSON.parse(JSON.stringify(ToolDocument.parse({ ...document, templateRules }))),
  }
}

/** Returns whether two tools are the same except for their names, titles and descriptions. */
export const isSameDocument = (one: ToolDefinition, other: ToolDefinition): boolean =>
  isDeepStrictEqual(toStored(one).definition, toStored(other).definition)
