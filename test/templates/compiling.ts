import type { JsonValue } from '../../src/lib/kernel/json.ts'
import { compileTemplate } from '../../src/templates/compile.ts'
import type { CompiledTemplate, RenderedRequest, RequestTemplate, TemplateError } from '../../src/templates/template.ts'

/** Returns a template with the given parts and minimal defaults for the rest. */
export const template = (parts: Partial<RequestTemplate>): RequestTemplate => ({
  method: 'POST',
  url: 'https://api.example.com/',
  headers: [],
  ...parts,
})

export const compiled = (parts: Partial<RequestTemplate>): CompiledTemplate => {
  const result = compileTemplate(template(parts))
  if (!result.ok) throw new Error(JSON.stringify(result.error))
  return result.value
}

export const errorsOf = (parts: Partial<RequestTemplate>): readonly TemplateError[] => {
  const result = compileTemplate(template(parts))
  return result.ok ? [] : result.error
}

export const valuesOf = (values: Readonly<Record<string, JsonValue>>): Map<string, JsonValue> =>
  new Map(Object.entries(values))

export const rendered = (
  parts: Partial<RequestTemplate>,
  values: Readonly<Record<string, JsonValue>> = {},
): RenderedRequest => {
  const result = compiled(parts).render(valuesOf(values))
  if (!result.ok) throw new Error(`${result.error.parameter} ${result.error.message}`)
  return result.value
}

/** Returns `parameter message` for a failed rendering, or undefined. */
export const refusal = (
  parts: Partial<RequestTemplate>,
  values: Readonly<Record<string, JsonValue>> = {},
): string | undefined => {
  const result = compiled(parts).render(valuesOf(values))
  return result.ok ? undefined : `${result.error.parameter} ${result.error.message}`
}
