import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from '../support/process.ts'

const FIXTURES = join(import.meta.dirname, 'fixtures')
/** Where applications keep their settings, below the home of their user. */
const APPLICATIONS = process.platform === 'darwin' ? 'Library/Application Support' : '.config'

/** A home with the configuration of ten tools, and a project in it; all in a folder of its own, gone after the tests. */
export const makeHome = (): { home: string; project: string } => {
  const home = join(temporaryDirectory(), 'home')
  const project = join(home, 'project')
  cpSync(join(FIXTURES, 'home'), home, { recursive: true })
  cpSync(join(FIXTURES, 'applications'), join(home, APPLICATIONS), { recursive: true })
  cpSync(join(FIXTURES, 'zed'), join(home, '.config/zed'), { recursive: true })
  cpSync(join(FIXTURES, 'project'), project, { recursive: true })
  return { home, project }
}

/** A home without anything, and files in the folder that the command runs in. */
export const makeFiles = (files: Record<string, string>): { home: string; project: string } => {
  const project = temporaryDirectory()
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(project, name, '..'), { recursive: true })
    writeFileSync(join(project, name), text)
  }
  return { home: project, project }
}
