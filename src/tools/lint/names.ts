import { CLAUDE, CLAUDE_CODE, CURSOR, type Finding, GEMINI, OPENAI, VS_CODE } from './finding.ts'

/**
 * What Claude's API takes as the name of a tool, and OpenAI's and Copilot's alike.
 * Source: github.com/github/copilot-cli/issues/1879, github.com/microsoft/vscode/issues/243602
 */
const NAME = /^[A-Za-z0-9_-]*$/
const MAX_NAME_CHARS = 64

/** Source: github.com/wonderwhy-er/DesktopCommanderMCP/issues/79 (the API's own words). */
const GEMINI_START = /^[A-Za-z_]/

/** Claude Code calls a tool `mcp__<server>__<tool>`. Source: github.com/anthropics/claude-code/issues/20643 */
const CLAUDE_CODE_PREFIX_CHARS = 'mcp____'.length
/** Cursor leaves out tools whose name and server's come to as many. Source: github.com/ComposioHQ/composio/issues/2788 */
const CURSOR_CHARS = 60

/** Longest name that leaves room for what clients put before it, where the server's name is not known yet. */
const ROOMY_NAME_CHARS = 40

const findLong = (name: string, serverName: string | undefined): Finding[] => {
  const remedy = 'Shorten it: a verb and a noun are mostly enough.'
  const common = { rule: 'long-name', field: 'name', remedy } as const
  if (serverName === undefined) {
    if (name.length <= ROOMY_NAME_CHARS) return []
    const message = `Clients put the server's name before it, and some stop at ${CURSOR_CHARS} or ${MAX_NAME_CHARS} characters for both: this alone has ${name.length}.`
    return [{ ...common, level: 'hint', message, clients: [CLAUDE_CODE, CURSOR] }]
  }
  const both = serverName.length + name.length
  const clients = [
    ...(both + CLAUDE_CODE_PREFIX_CHARS > MAX_NAME_CHARS ? [CLAUDE_CODE] : []),
    ...(both >= CURSOR_CHARS ? [CURSOR] : []),
  ]
  if (clients.length === 0) return []
  const message = `With the server's name, "${serverName}", it has ${both} characters: too many for ${clients.join(' and ')}, which may leave the tool out.`
  return [{ ...common, level: 'warning', message, clients }]
}

/** `serverName`: what clients call the server that the tool is in, where that is known. */
export const lintName = (name: string, serverName: string | undefined): Finding[] => {
  const field = 'name'
  const refusing = [CLAUDE, OPENAI, VS_CODE]
  if (!NAME.test(name) || name === '')
    return [
      {
        rule: 'name-characters',
        level: 'error',
        field,
        message: 'Claude, OpenAI and VS Code refuse a name with anything but letters, digits, _ and -.',
        remedy: 'Write _ in place of what else is in it.',
        clients: refusing,
      },
    ]
  if (name.length > MAX_NAME_CHARS)
    return [
      {
        rule: 'name-length',
        level: 'error',
        field,
        message: `Claude, OpenAI and VS Code refuse a name of more than ${MAX_NAME_CHARS} characters; this has ${name.length}.`,
        remedy: 'Shorten it: a verb and a noun are mostly enough.',
        clients: refusing,
      },
    ]
  const start: Finding[] = GEMINI_START.test(name)
    ? []
    : [
        {
          rule: 'name-start',
          level: 'warning',
          field,
          message: 'Gemini refuses a name that begins with anything but a letter or _.',
          remedy: 'Begin it with a verb.',
          clients: [GEMINI],
        },
      ]
  return [...start, ...findLong(name, serverName)]
}
