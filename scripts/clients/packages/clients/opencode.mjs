/** Lists its servers with their state. It calls tools only for a model. */
import { runProgram } from '../run-program.mjs'

export const use = async ({ url, headers }) => {
  const config = { mcp: { patchbay: { type: 'remote', url, headers, enabled: true } } }
  const files = { 'opencode.json': JSON.stringify(config) }
  return { state: await runProgram('opencode-ai', ['mcp', 'list'], { files, withErrors: true }) }
}
