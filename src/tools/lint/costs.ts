import { formatNumber } from '../../lib/kernel/format.ts'
import { CURSOR, type Finding, OPENAI, VS_CODE } from './finding.ts'

/** Token count at which a single tool becomes costly: ten such tools take up as much as a page of text. */
const LARGE_TOKENS = 500
/** Token count that only a few tools of a server should reach. */
const VAST_TOKENS = 1_500
/** Catalogue size, in tokens, at which models choose worse and every turn costs noticeably more. */
const LARGE_CATALOGUE_TOKENS = 10_000

/**
 * VS Code's limit on tools in one request. Sources: github.com/microsoft/vscode/issues/337428,
 * github.com/microsoft/vscode-copilot-release/issues/11653
 */
const VS_CODE_TOOLS = 128
/** Cursor's limit on tools across all servers. Source: github.com/Snowflake-Labs/mcp/issues/77 */
const CURSOR_TOOLS = 80

/** `tokens` is the token count of the tool as clients see it. */
export const lintCost = (tokens: number): Finding[] => {
  if (tokens < LARGE_TOKENS) return []
  return [
    {
      rule: 'costly',
      level: tokens < VAST_TOKENS ? 'hint' : 'warning',
      field: 'cost',
      message: `It adds ${formatNumber(tokens)} tokens to every conversation, whether it is called or not.`,
      remedy:
        'Shorten the descriptions, bind parameters that are always the same to a fixed value, and remove those that nobody sets.',
      clients: [],
    },
  ]
}

/** `tools` and `tokens` are the counts for the list that clients receive first. */
export const lintCatalogue = ({ tools, tokens }: { tools: number; tokens: number }): Finding[] => {
  const remedy = 'Offer fewer tools, or choose the search or grouped presentation in Settings.'
  const findings: Finding[] = []
  if (tools > VS_CODE_TOOLS)
    findings.push({
      rule: 'too-many-tools',
      level: 'error',
      field: 'tools',
      message: `VS Code and OpenAI reject more than ${VS_CODE_TOOLS} tools in one request, counting all servers together; this server has ${formatNumber(tools)}.`,
      remedy,
      clients: [OPENAI, VS_CODE],
    })
  else if (tools > CURSOR_TOOLS)
    findings.push({
      rule: 'many-tools',
      level: 'warning',
      field: 'tools',
      message: `Cursor warns about more than ${CURSOR_TOOLS} tools, counting all servers together; this server has ${formatNumber(tools)}.`,
      remedy,
      clients: [CURSOR],
    })
  if (tokens > LARGE_CATALOGUE_TOKENS)
    findings.push({
      rule: 'costly-catalogue',
      level: 'warning',
      field: 'tools',
      message: `The list of tools adds ${formatNumber(tokens)} tokens to every conversation.`,
      remedy,
      clients: [],
    })
  return findings
}
