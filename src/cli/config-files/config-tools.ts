import { join } from 'node:path'
import type { VariableSyntax } from './config-text.ts'

/** Where tools keep their files on this machine. */
export type Machine = {
  platform: NodeJS.Platform
  home: string
  /** Windows' folder of applications' settings. */
  appData: string
  /** Where Linux keeps settings. */
  configHome: string
  /** Codex CLI's own folder, where it is not the usual one. */
  codexHome: string | undefined
  /** The project whose own files are looked for. */
  project: string
}

export type ConfigTool = {
  id: string
  title: string
  variables: VariableSyntax
  /** Of the field `timeout`, in milliseconds. */
  timeoutUnitMs: number
  /** What an address without a type is. */
  untypedUrl: 'http' | 'sse'
  /** Its files, those of the user first. Not all of them need be there. */
  listFiles: (machine: Machine) => readonly string[]
}

/** Where an application that keeps its settings as its platform wishes has them. */
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

/** The tools whose files are known; each by the name that the command line takes. */
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
      [join(home, '.config/opencode'), project].flatMap(folder =>
        ['opencode.json', 'opencode.jsonc'].map(file => join(folder, file)),
      ),
    { variables: { singleBraces: true } },
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

/** A file of no tool that is known: what most write. */
const ANY_TOOL: ConfigTool = tool('file', 'file', () => [])

/** The tool that a file at such a path belongs to, wherever the folder is. */
export const toolOfFile = (path: string, machine: Machine): ConfigTool =>
  CONFIG_TOOLS.find(({ listFiles }) => listFiles(machine).some(file => file === path)) ??
  CONFIG_TOOLS.find(({ listFiles }) => listFiles(machine).some(file => endingOf(file) === endingOf(path))) ??
  ANY_TOOL
