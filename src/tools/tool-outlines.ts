import { LRUCache } from 'lru-cache'
import type { DefaultBinding } from '../templates/check-value.ts'
import { compileTemplate } from '../templates/compile.ts'
import type { ParameterType } from '../templates/template.ts'
import { defaultsOf, templateOf } from './stored-definition.ts'

type Version = { id: string; updatedAt: Date }
type Row = Version & { definition: unknown }

/** `binding` is the parameter's default binding. */
export type ParameterHead = {
  name: string
  type: ParameterType
  required: boolean
  binding?: DefaultBinding | undefined
}

/** The part of a tool that lists show. `parameters` is undefined if the template does not compile. */
export type ToolOutline = {
  method: string
  /** In template order. */
  parameters: readonly ParameterHead[] | undefined
}

/**
 * Maximum number of cached outlines of about 300 bytes each, enough for the tools of ten of the largest servers. Set as
 * `maxSize`, because `max` allocates memory up front.
 */
const MAX_CACHED = 20_000

const keyOf = ({ id, updatedAt }: Version): string => `${id} ${updatedAt.getTime()}`

const readOutline = ({ definition }: Row): ToolOutline => {
  const template = templateOf(definition)
  const compiled = compileTemplate(template)
  const { parameters: metas } = defaultsOf(definition)
  const parameters = compiled.ok
    ? compiled.value.parameters.map(({ name, type, required }) => {
        const { binding, default: value } = (Object.hasOwn(metas, name) && metas[name]) || {}
        return { name, type, required: required && value === undefined, ...(binding !== undefined && { binding }) }
      })
    : undefined
  return { method: template.method, parameters }
}

/** Caches the outline of each tool version, because compiling 2,000 templates takes too long for one page. */
export const createToolOutlines = () => {
  const known = new LRUCache<string, ToolOutline>({ maxSize: MAX_CACHED, sizeCalculation: () => 1 })
  const find = (tool: Version): ToolOutline | undefined => known.get(keyOf(tool))
  return {
    /** Returns the outline if it is cached for this version. */
    find,

    read: (row: Row): ToolOutline => {
      const outline = find(row) ?? readOutline(row)
      known.set(keyOf(row), outline)
      return outline
    },
  }
}
