/** A client from npm, and the program in `packages/clients` that uses it. */
export type ThirdPartyClient = {
  title: string
  /** The name of its package in `packages/package.json`. */
  name: string
  program: string
  args?: readonly string[]
}

const sdk = (version: string): ThirdPartyClient => ({
  title: `official SDK ${version}`,
  name: `sdk-${version}`,
  program: 'sdk',
  args: [`sdk-${version}`],
})

export const CLIENTS: readonly ThirdPartyClient[] = [
  ...['1.4', '1.10', '1.12', '1.17', '1.24'].map(sdk),
  { title: 'MCP Inspector, command line', name: '@modelcontextprotocol/inspector', program: 'inspector' },
  { title: 'Claude Code', name: '@anthropic-ai/claude-code', program: 'claude-code' },
  { title: 'Gemini CLI', name: '@google/gemini-cli', program: 'gemini-cli', args: ['@google/gemini-cli'] },
  { title: 'Qwen Code', name: '@qwen-code/qwen-code', program: 'gemini-cli', args: ['@qwen-code/qwen-code'] },
  { title: 'OpenCode', name: 'opencode-ai', program: 'opencode' },
  { title: 'mcp-remote', name: 'mcp-remote', program: 'bridged', args: ['mcp-remote'] },
  { title: 'supergateway', name: 'supergateway', program: 'bridged', args: ['supergateway'] },
  { title: 'mcporter', name: 'mcporter', program: 'mcporter' },
  { title: 'AI SDK', name: '@ai-sdk/mcp', program: 'ai-sdk' },
  { title: 'LangChain', name: '@langchain/mcp-adapters', program: 'langchain' },
  { title: 'Mastra', name: '@mastra/mcp', program: 'mastra' },
  { title: 'OpenAI Agents', name: '@openai/agents', program: 'openai-agents' },
  { title: 'Genkit', name: '@genkit-ai/mcp', program: 'genkit' },
  { title: 'Google ADK', name: '@google/adk', program: 'adk' },
  { title: 'Strands Agents', name: '@strands-agents/sdk', program: 'strands' },
  { title: 'VoltAgent', name: '@voltagent/core', program: 'voltagent' },
]
