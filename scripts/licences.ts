import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const PACKAGE = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/

/** Returns the folder of the package that contains a module, or undefined for one of our own modules. */
const packageOf = (module: string): string | undefined => PACKAGE.exec(module.replaceAll('\\', '/'))?.[0]

const describe = (folder: string): string => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = readdirSync(folder).filter(file => /^(licen[cs]e|notice)/i.test(file))
  const texts = files.map(file => readFileSync(join(folder, file), 'utf8').trim())
  return [`${name} ${version} (${license})`, ...texts].join('\n\n')
}

/** Returns the licences of the packages that contain `modules`, as one string. */
export const listLicences = (modules: readonly string[]): string => {
  const folders = new Set(modules.map(packageOf).filter(folder => folder !== undefined))
  return `${[...folders]
    .map(describe)
    .sort()
    .join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}
