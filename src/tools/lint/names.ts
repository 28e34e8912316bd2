import { CLAUDE, CLAUDE_CODE, CURSOR, type Finding, GEMINI, OPENAI, VS_CODE } from './finding.ts'

/**
 * Tool names that the APIs of Claude, OpenAI and Copilot accept.
 * Sources: github.com/github/copilot-cli/issues/1879, github.com/microsoft/vscode/issues/243602
 */
const NAME = /^[A-Za-z0-9_-]*$/
const MAX_NAME_CHARS = 64

/** Source: github.com/wonderwhy-er/DesktopCommanderMCP/issues/79 (the API's error message). */
const GEMINI_START = /^[A-Za-z_]/

/** Claude Code calls a tool `mcp__<server>__<tool>`. Source: github.com/anthropics/claude-code/issues/20643 */
const CLAUDE_CODE_PREFIX_CHARS = 'mcp____'.length
/**
 * Cursor omits a tool if its name and the server's name together reach this number of characters. Source:
 * github.com/ComposioHQ/composio/issues/2788
 */
const CURSOR_CHARS = 60

/** Longest tool name that leaves room for the server's name when that name is not yet known. */
const ROOMY_NAME_CHARS = 40

const SHORTEN = 'Shorten it. A verb and a noun are usually enough.'

const findLong = (name: string, serverName: string | undefined): Finding[] => {
  const common = { rule: 'long-name', field: 'name', remedy: SHORTEN } as const
  if (serverName === undefined) {
    if (name.length <= ROOMY_NAME_CHARS) return []
    const message = `Clients prefix it with the server's name, and some allow only ${CURSOR_CHARS} or ${MAX_NAME_CHARS} characters for both. This name alone has ${name.length}.`
    return [{ ...common, level: 'hint', message, clients: [CLAUDE_CODE, CURSOR] }]
  }
  const both = serverName.length + name.length
  const clients = [
    ...(both + CLAUDE_CODE_PREFIX_CHARS > MAX_NAME_CHARS ? [CLAUDE_CODE] : []),
    ...(both >= CURSOR_CHARS ? [CURSOR] : []),
  ]
  if (clients.length === 0) return []
  const message = `With the server's name, "${serverName}", it has ${both} characters. That is too long for ${clients.join(' and ')}, which may leave the tool out.`
  return [{ ...common, level: 'warning', message, clients }]
}

/** `serverName` is the name that clients use for the tool's server, if known. */
export const lintName = (name: string, serverName: string | undefined): Finding[] => {
  const field = 'name'
  const refusing = [CLAUDE, OPENAI, VS_CODE]
  if (!NAME.test(name) || name === '')
    return [
      {
        rule: 'name-characters',
        level: 'error',
        field,
        message: 'Claude, OpenAI and VS Code reject a name with characters other than letters, digits, _ and -.',
        remedy: 'Replace other characters with _.',
        clients: refusing,
      },
    ]
  if (name.length > MAX_NAME_CHARS)
    return [
      {
        rule: 'name-length',
        level: 'error',
        field,
        message: `Claude, OpenAI and VS Code reject a name of more than ${MAX_NAME_CHARS} characters; this one has ${name.length}.`,
        remedy: SHORTEN,
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
          message: 'Gemini rejects a name that does not start with a letter or _.',
          remedy: 'Start it with a verb.',
          clients: [GEMINI],
        },
      ]
  return [...start, ...findLong(name, serverName)]
}
