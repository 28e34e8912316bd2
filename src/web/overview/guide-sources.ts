/** The documentation that the instructions for a client follow, and what they were last compared with. */
export type GuideSource = {
  href: string
  /** ISO 8601 date of the comparison. For a copy of the page, the day on which the copy was made or approved. */
  checkedOn: string
  /** The page itself, a copy of it, or the program in this version: its commands and files, without signing in. */
  against: 'page' | 'copy' | { version: string }
}

/** The day on which the pages were last read. After a change, read all of them again and set this. */
const PAGES_READ_ON = '2026-11-27'
const page = (href: string): GuideSource => ({ href, checkedOn: PAGES_READ_ON, against: 'page' })
const copy = (href: string, checkedOn: string): GuideSource => ({ href, checkedOn, against: 'copy' })
const program = (href: string, version: string, checkedOn: string): GuideSource => ({
  href,
  checkedOn,
  against: { version },
})

/** The source of each client's instructions. */
export const GUIDE_SOURCES = {
  claude: copy(
    'https://support.claude.com/en/articles/11175166-get-started-with-custom-connectors-using-remote-mcp',
    '2026-10-01',
  ),
  claudeCode: program('https://code.claude.com/docs/en/mcp', '2.1.332', '2026-11-27'),
  chatgpt: page('https://developers.openai.com/api/docs/guides/custom-mcp-server'),
  codex: program('https://learn.chatgpt.com/docs/extend/mcp', '0.171.0', '2026-11-27'),
  cursor: page('https://cursor.com/docs/mcp/install-links'),
  vscode: copy('https://code.visualstudio.com/docs/agent-customization/mcp-servers', '2026-10-07'),
  geminiCli: page('https://geminicli.com/docs/tools/mcp-server/'),
  windsurf: page('https://docs.windsurf.com/windsurf/cascade/mcp'),
  zed: page('https://zed.dev/docs/ai/mcp'),
  goose: page('https://goose-docs.ai/docs/getting-started/using-extensions'),
  cline: page('https://docs.cline.bot/mcp/adding-and-configuring-servers'),
  openCode: page('https://opencode.ai/docs/mcp-servers'),
  lmStudio: page('https://lmstudio.ai/docs/app/mcp'),
} as const satisfies Record<string, GuideSource>

/** Formats 2026-11-27 as 27 November 2026. */
const LONG_DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })

/** Says when and against what instructions were checked, such as `checked on 27 November 2026 with version 1.2`. */
export const describeCheck = ({ checkedOn, against }: GuideSource): string => {
  const day = LONG_DATE.format(new Date(checkedOn))
  if (against === 'copy') return `as of ${day}`
  return `checked on ${day}${against === 'page' ? '' : ` with version ${against.version}`}`
}
