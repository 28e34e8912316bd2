import { LRUCache } from 'lru-cache'
import { compileTemplate } from '../templates/index.ts'
import { templateOf } from './stored-definition.ts'

type Row = { id: string; updatedAt: Date; definition: unknown }

/** What a list says of a tool. `parameters` is undefined where the template does not compile, and nobody can call it. */
type ToolOutline = {
  method: string
  /** Their names, in the template's order. */
  parameters: readonly string[] | undefined
}

/** Some 300 bytes each: the tools of ten of the largest servers. */
const MAX_REMEMBERED = 20_000

const readOutline = ({ definition }: Row): ToolOutline => {
  const template = templateOf(definition)
  const compiled = compileTemplate(template)
  const parameters = compiled.ok ? compiled.value.parameters.map(({ name }) => name) : undefined
  return { method: template.method, parameters }
}

/** Reads each version of a tool once: compiling the templates of 2,000 takes longer than a page may. */
export const createToolOutlines = (): ((row: Row) => ToolOutline) => {
  const known = new LRUCache<string, ToolOutline>({ max: MAX_REMEMBERED })
  return row => {
    const key = `${row.id} ${row.updatedAt.getTime()}`
    const outline = known.get(key) ?? readOutline(row)
    known.set(key, outline)
    return outline
  }
}
