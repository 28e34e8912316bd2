/** Lists its servers with their state. It calls tools only for a model. */
import { runProgram } from '../run-program.mjs'

export const use = async ({ url, headers }) => {
  const config = { mcpServers: { patchbay: { type: 'http', url, headers } } }
  const inFolder = { files: { '.claude.json': JSON.stringify(config) } }
  return { state: await runProgram('@anthropic-ai/claude-code', ['mcp', 'list'], { ...inFolder, withErrors: true }) }
}
