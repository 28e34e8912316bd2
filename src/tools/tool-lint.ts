import type { Database } from '../lib/db/client.ts'
import type { Actor } from '../lib/kernel/actor.ts'
import type { TokenCounterFor } from '../lib/tokens/token-counter.ts'
import { TOKEN_ENCODING } from '../lib/tokens/tokens.ts'
import type { Finding, ShownTool } from './lint/finding.ts'
import { lintTool, sortFindings } from './lint/lint-tool.ts'
import { lintRequest } from './lint/request.ts'
import { lintSimilarTool } from './lint/similar-tools.ts'
import { toShownTool } from './shown-tool.ts'
import type { ToolService } from './tools.service.ts'
import { listToolTexts } from './tools.store.ts'

/** `tokens` is the token count of the name, description and input schema, which most clients pass to the model. */
export type ToolLint = { encoding: string; tokens: number; findings: readonly Finding[] }

/** The toolkit that contains or will contain the tool. The tool is compared with the toolkit's other tools. */
export type ToolPlace = { toolkitId: string | undefined; toolId: string | undefined }

export const createToolLint = ({
  db,
  tools,
  tokenCounterFor,
}: {
  db: Database
  tools: Pick<ToolService, 'getTool'>
  tokenCounterFor: TokenCounterFor
}) => {
  const findSimilar = async (tool: ShownTool, { toolkitId, toolId }: ToolPlace): Promise<Finding | undefined> => {
    if (toolkitId === undefined) return undefined
    const others = (await listToolTexts(db, toolkitId)).filter(({ id }) => id !== toolId)
    return lintSimilarTool(tool, others)
  }

  /** Lints a saved or unsaved tool as the model would see it, for a user. The caller checks access to the toolkit. */
  const lintShown = async (userId: string, tool: ShownTool, place: ToolPlace): Promise<ToolLint> => {
    const { name, description, inputSchema } = tool
    const tokens = await tokenCounterFor(userId)(JSON.stringify({ name, description, inputSchema }))
    return {
      encoding: TOKEN_ENCODING,
      tokens,
      findings: lintTool(tool, { tokens, similar: await findSimilar(tool, place) }),
    }
  }

  return {
    lintShown,
    /** Lints a saved tool of the actor's organizations or of a public toolkit. */
    lintSaved: async (actor: Actor, id: string): Promise<ToolLint> => {
      const tool = await tools.getTool(actor, id)
      const lint = await lintShown(actor.userId, toShownTool(tool), { toolkitId: tool.toolkitId, toolId: id })
      return { ...lint, findings: sortFindings([...lintRequest(tool, false), ...lint.findings]) }
    },
  }
}
export type ToolLintService = ReturnType<typeof createToolLint>
