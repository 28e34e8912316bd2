import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from '../support/process.ts'

const FIXTURES = join(import.meta.dirname, 'fixtures')
/** Folder for application settings within the user's home directory. */
const APPLICATIONS = process.platform === 'darwin' ? 'Library/Application Support' : '.config'

/** Creates a home with the configuration of eleven tools and a project, in a folder that is deleted after the tests. */
export const makeHome = (): { home: string; project: string } => {
  const home = join(temporaryDirectory(), 'home')
  const project = join(home, 'project')
  cpSync(join(FIXTURES, 'home'), home, { recursive: true })
  cpSync(join(FIXTURES, 'applications'), join(home, APPLICATIONS), { recursive: true })
  for (const tool of ['zed', 'goose']) cpSync(join(FIXTURES, tool), join(home, '.config', tool), { recursive: true })
  cpSync(join(FIXTURES, 'project'), project, { recursive: true })
  return { home, project }
}

/** Creates an empty home directory, and writes files to the folder in which the command runs. */
export const makeFiles = (files: Record<string, string>): { home: string; project: string } => {
  const project = temporaryDirectory()
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(project, name, '..'), { recursive: true })
    writeFileSync(join(project, name), text)
  }
  return { home: project, project }
}
