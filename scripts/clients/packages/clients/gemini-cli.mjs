/** Lists its servers with their state. It calls tools only for a model. */
import { runProgram } from '../run-program.mjs'

const PROGRAMS = { '@google/gemini-cli': '.gemini', '@qwen-code/qwen-code': '.qwen' }

/** It connects to nothing in a folder that is not trusted. */
const TRUSTED = { GEMINI_CLI_TRUST_WORKSPACE: 'true' }

export const use = async ({ url, headers }, program) => {
  const settings = { mcpServers: { patchbay: { httpUrl: url, headers } } }
  const files = { [`${PROGRAMS[program]}/settings.json`]: JSON.stringify(settings) }
  return { state: await runProgram(program, ['mcp', 'list'], { files, env: TRUSTED, withErrors: true }) }
}
