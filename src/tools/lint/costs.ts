import { CURSOR, type Finding, OPENAI, VS_CODE } from './finding.ts'

/** Tokens of one tool from which on it is worth a look: ten such are what a whole page of text is. */
const LARGE_TOKENS = 500
/** Tokens that a few tools of a whole server should not take. */
const VAST_TOKENS = 1_500
/** Tokens of a catalogue that models are worse with, and that people pay for with every turn. */
const LARGE_CATALOGUE_TOKENS = 10_000

/** In one request. Sources: github.com/microsoft/vscode/issues/337428, github.com/microsoft/vscode-copilot-release/issues/11653 */
const VS_CODE_TOOLS = 128
/** Of all servers together. Source: github.com/Snowflake-Labs/mcp/issues/77 */
const CURSOR_TOOLS = 80

const countText = (count: number): string => new Intl.NumberFormat('en').format(count)

/** `tokens`: of the tool as clients are told it. */
export const lintCost = (tokens: number): Finding[] => {
  if (tokens < LARGE_TOKENS) return []
  return [
    {
      rule: 'costly',
      level: tokens < VAST_TOKENS ? 'hint' : 'warning',
      field: 'cost',
      message: `It takes ${countText(tokens)} tokens of every conversation, whether it is called or not.`,
      remedy:
        'Shorten the descriptions, fix parameters that are always the same, and leave out those that nobody sets.',
      clients: [],
    },
  ]
}

/** `tools` and `tokens`: of what clients are listed at first. */
export const lintCatalogue = ({ tools, tokens }: { tools: number; tokens: number | undefined }): Finding[] => {
  const remedy = 'Offer fewer tools, or present them by search or in groups, in the settings.'
  const findings: Finding[] = []
  if (tools > VS_CODE_TOOLS)
    findings.push({
      rule: 'too-many-tools',
      level: 'error',
      field: 'tools',
      message: `VS Code and OpenAI refuse more than ${VS_CODE_TOOLS} tools in one request, those of all servers together; here are ${countText(tools)}.`,
      remedy,
      clients: [OPENAI, VS_CODE],
    })
  else if (tools > CURSOR_TOOLS)
    findings.push({
      rule: 'many-tools',
      level: 'warning',
      field: 'tools',
      message: `Cursor warns of more than ${CURSOR_TOOLS} tools, those of all servers together; here are ${countText(tools)}.`,
      remedy,
      clients: [CURSOR],
    })
  if (tokens !== undefined && tokens > LARGE_CATALOGUE_TOKENS)
    findings.push({
      rule: 'costly-catalogue',
      level: 'warning',
      field: 'tools',
      message: `The list of tools takes ${countText(tokens)} tokens of every conversation.`,
      remedy,
      clients: [],
    })
  return findings
}
