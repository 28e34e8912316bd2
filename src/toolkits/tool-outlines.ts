import { LRUCache } from 'lru-cache'
import { compileTemplate } from '../templates/index.ts'
import { type ToolRow, toTool } from './tools.store.ts'

/** What a list says of a tool. `parameters` is undefined where the template does not compile, and nobody can call it. */
type ToolOutline = {
  method: string
  /** Their names, in the template's order. */
  parameters: readonly string[] | undefined
}

/** Some 300 bytes each: the tools of ten of the largest servers. */
const MAX_REMEMBERED = 20_000

const readOutline = (row: ToolRow): ToolOutline => {
  const tool = toTool(row)
  const compiled = compileTemplate(tool)
  return {
    method: tool.method,
    parameters: compiled.ok ? compiled.value.parameters.map(({ name }) => name) : undefined,
  }
}

/** Reads each version of a tool once: compiling the templates of 2,000 takes longer than a page may. */
export const createToolOutlines = (): ((row: ToolRow) => ToolOutline) => {
  const known = new LRUCache<string, ToolOutline>({ max: MAX_REMEMBERED })
  return row => {
    const key = `${row.id} ${row.updatedAt.getTime()}`
    const outline = known.get(key) ?? readOutline(row)
    known.set(key, outline)
    return outline
  }
}
