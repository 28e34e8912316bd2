import { join } from 'node:path'
import type { VariableSyntax } from './config-text.ts'

/** The folders in which tools keep their files on this machine. */
export type Machine = {
  platform: NodeJS.Platform
  home: string
  /** The folder for application settings on Windows (`APPDATA`). */
  appData: string
  /** The folder for settings on Linux (`XDG_CONFIG_HOME`). */
  configHome: string
  /** Codex CLI's own folder, if it differs from the default. */
  codexHome: string | undefined
  /** The project folder whose configuration files are read. */
  project: string
}

export type ConfigTool = {
  id: string
  title: string
  variables: VariableSyntax
  /** Unit of the `timeout` field, in milliseconds. */
  timeoutUnitMs: number
  /** Transport for a URL without a type. */
  untypedUrl: 'http' | 'sse'
  /** Lists the tool's possible files, the user's before the project's. The files need not exist. */
  listFiles: (machine: Machine) => readonly string[]
}

/** Returns the settings folder of an application that follows the conventions of its platform. */
const settingsFolder = (machine: Machine, name: string): string => {
  if (machine.platform === 'darwin') return join(machine.home, 'Library/Application Support', name)
  return join(machine.platform === 'win32' ? machine.appData : machine.configHome, name)
}

const listCodeFolders = (machine: Machine): string[] =>
  ['Code', 'Code - Insiders', 'VSCodium'].map(name => join(settingsFolder(machine, name), 'User'))

const listExtensionFiles = (machine: Machine, extension: string, file: string): string[] =>
  listCodeFolders(machine).map(folder => join(folder, 'globalStorage', extension, 'settings', file))

const tool = (
  id: string,
  title: string,
  listFiles: ConfigTool['listFiles'],
  rest: Partial<Pick<ConfigTool, 'variables' | 'timeoutUnitMs' | 'untypedUrl'>> = {},
): ConfigTool => ({ id, title, variables: {}, timeoutUnitMs: 1, untypedUrl: 'http', listFiles, ...rest })

/** The client programs whose config files can be imported, each with the name used on the command line. */
export const CONFIG_TOOLS: readonly ConfigTool[] = [
  tool('claude-desktop', 'Claude Desktop', machine => [
    join(settingsFolder(machine, 'Claude'), 'claude_desktop_config.json'),
  ]),
  tool('claude-code', 'Claude Code', ({ home, project }) => [join(home, '.claude.json'), join(project, '.mcp.json')]),
  tool('cursor', 'Cursor', ({ home, project }) => [join(home, '.cursor/mcp.json'), join(project, '.cursor/mcp.json')]),
  tool('vscode', 'VS Code', machine => [
    ...listCodeFolders(machine).flatMap(folder => [join(folder, 'mcp.json'), join(folder, 'settings.json')]),
    join(machine.project, '.vscode/mcp.json'),
  ]),
  tool('windsurf', 'Windsurf', ({ home, project }) => [
    join(home, '.codeium/windsurf/mcp_config.json'),
    join(home, '.codeium/mcp_config.json'),
    join(project, '.windsurf/mcp_config.json'),
  ]),
  tool(
    'cline',
    'Cline',
    machine => [
      ...listExtensionFiles(machine, 'saoudrizwan.claude-dev', 'cline_mcp_settings.json'),
      join(machine.home, '.cline/data/settings/cline_mcp_settings.json'),
    ],
    { timeoutUnitMs: 1_000, untypedUrl: 'sse' },
  ),
  tool('zed', 'Zed', machine => [
    join(
      machine.platform === 'darwin' ? join(machine.home, '.config') : settingsFolder(machine, ''),
      'zed/settings.json',
    ),
    join(machine.project, '.zed/settings.json'),
  ]),
  tool(
    'gemini-cli',
    'Gemini CLI',
    ({ home, project }) => [join(home, '.gemini/settings.json'), join(project, '.gemini/settings.json')],
    { variables: { bareNames: true }, untypedUrl: 'sse' },
  ),
  tool('codex', 'Codex CLI', ({ home, project, codexHome }) => [
    join(codexHome ?? join(home, '.codex'), 'config.toml'),
    join(project, '.codex/config.toml'),
  ]),
  tool(
    'opencode',
    'OpenCode',
    ({ home, project }) =>
      [join(home, '.config/opencode'), project, join(project, '.opencode')].flatMap(folder =>
        ['opencode.json', 'opencode.jsonc'].map(file => join(folder, file)),
      ),
    { variables: { singleBraces: true } },
  ),
  tool(
    'goose',
    'Goose',
    ({ platform, appData, configHome }) => [
      platform === 'win32' ? join(appData, 'Block/goose/config/config.yaml') : join(configHome, 'goose/config.yaml'),
    ],
    { variables: { bareNames: true }, timeoutUnitMs: 1_000 },
  ),
  tool(
    'roo-code',
    'Roo Code',
    machine => [
      ...listExtensionFiles(machine, 'rooveterinaryinc.roo-cline', 'mcp_settings.json'),
      join(machine.project, '.roo/mcp.json'),
    ],
    { timeoutUnitMs: 1_000 },
  ),
  tool('kiro', 'Kiro', ({ home, project }) => [
    join(home, '.kiro/settings/mcp.json'),
    join(project, '.kiro/settings/mcp.json'),
  ]),
  tool('copilot-cli', 'GitHub Copilot CLI', ({ home }) => [join(home, '.copilot/mcp-config.json')]),
  tool('lm-studio', 'LM Studio', ({ home }) => [join(home, '.lmstudio/mcp.json')]),
]

const endingOf = (path: string): string => path.split(/[\\/]/).slice(-2).join('/')

/** Used for the file of an unknown tool. It has the most common format. */
const ANY_TOOL: ConfigTool = tool('file', 'file', () => [])

/** Returns the tool that a file belongs to. Compares whole paths first, then the last two path segments. */
export const toolOfFile = (path: string, machine: Machine): ConfigTool =>
  CONFIG_TOOLS.find(({ listFiles }) => listFiles(machine).some(file => file === path)) ??
  CONFIG_TOOLS.find(({ listFiles }) => listFiles(machine).some(file => endingOf(file) === endingOf(path))) ??
  ANY_TOOL
