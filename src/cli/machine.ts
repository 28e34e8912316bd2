import { homedir } from 'node:os'
import { join } from 'node:path'
import { readVariable } from '../lib/process/settings.ts'
import type { Machine } from './config-files/config-tools.ts'

/**
 * Returns the folders in which MCP clients keep their configuration on this machine. The project is the working
 * directory.
 */
export const thisMachine = (): Machine => {
  const home = readVariable('HOME') ?? homedir()
  return {
    platform: process.platform,
    home,
    appData: readVariable('APPDATA') ?? join(home, 'AppData/Roaming'),
    configHome: readVariable('XDG_CONFIG_HOME') ?? join(home, '.config'),
    codexHome: readVariable('CODEX_HOME'),
    project: process.cwd(),
  }
}
