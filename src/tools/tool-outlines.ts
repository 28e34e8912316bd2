import { createNewestEntries } from '../lib/process/newest-entries.ts'
import { compileTemplate } from '../templates/compile.ts'
import type { ParameterType } from '../templates/template.ts'
import { templateOf } from './stored-definition.ts'

type Version = { id: string; updatedAt: Date }
type Row = Version & { definition: unknown }

/** What a tool asks for: of its parameters no more than this. */
export type ParameterHead = { name: string; type: ParameterType }

/** What a list says of a tool. `parameters` is undefined where the template does not compile, and nobody can call it. */
export type ToolOutline = {
  method: string
  /** In the template's order. */
  parameters: readonly ParameterHead[] | undefined
}

/** Some 300 bytes each: the tools of ten of the largest servers. */
const MAX_REMEMBERED = 20_000

const keyOf = ({ id, updatedAt }: Version): string => `${id} ${updatedAt.getTime()}`

const readOutline = ({ definition }: Row): ToolOutline => {
  const template = templateOf(definition)
  const compiled = compileTemplate(template)
  const parameters = compiled.ok ? compiled.value.parameters.map(({ name, type }) => ({ name, type })) : undefined
  return { method: template.method, parameters }
}

/** Reads each version of a tool once: compiling the templates of 2,000 takes longer than a page may. */
export const createToolOutlines = () => {
  const known = createNewestEntries<ToolOutline>(MAX_REMEMBERED)
  const find = (tool: Version): ToolOutline | undefined => known.get(keyOf(tool))
  return {
    /** Undefined of a version that was not read before, or long ago. */
    find,

    read: (row: Row): ToolOutline => {
      const outline = find(row) ?? readOutline(row)
      known.set(keyOf(row), outline)
      return outline
    },
  }
}
