import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Machine } from '../config-files/index.ts'
import { readVariable } from '../platform/settings.ts'

/** Where tools keep their files here; the project is the folder that the command runs in. */
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
