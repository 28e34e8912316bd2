import { readFile, stat } from 'node:fs/promises'
import { dirname, extname } from 'node:path'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { codeOf } from '../failure-lines.ts'
import { type ConfigTool, type Machine, toolOfFile } from './config-tools.ts'
import { findServers } from './find-servers.ts'
import type { FoundServers } from './found-server.ts'
import { type ConfigFault, type ConfigSyntax, MAX_CONFIG_FILE_BYTES, parseConfig } from './parse-config.ts'

export type ConfigFile = FoundServers & { path: string; tool: ConfigTool }

/** The error for a file that is missing. */
export const ABSENT = 'does not exist'

const READ_FAULTS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', ABSENT],
  ['ENOTDIR', ABSENT],
  ['EISDIR', 'is a folder, not a file'],
  ['EACCES', 'is not readable by this user'],
  ['EPERM', 'is not readable by this user'],
])

const readWhole = async (path: string): Promise<Result<string, string>> => {
  const found = await stat(path)
  // A pipe or a device has no size and may never end.
  if (!found.isFile() && !found.isDirectory()) return failure('is not a regular file')
  const { size } = found
  if (size <= MAX_CONFIG_FILE_BYTES) return success(await readFile(path, 'utf8'))
  return failure(`has ${size} bytes, more than the limit of ${MAX_CONFIG_FILE_BYTES}`)
}

const readText = async (path: string): Promise<Result<string, string>> => {
  try {
    return await readWhole(path)
  } catch (error) {
    const fault = READ_FAULTS.get(codeOf(error) ?? '')
    if (fault === undefined) throw error
    return failure(fault)
  }
}

/** The syntax of a file by its extension. All others are JSON. */
const SYNTAXES: ReadonlyMap<string, ConfigSyntax> = new Map([
  ['.toml', 'toml'],
  ['.yaml', 'yaml'],
  ['.yml', 'yaml'],
])

const explain = ({ message, line, column }: ConfigFault): string => {
  const where = line === undefined || column === undefined ? '' : ` at line ${line}, column ${column}`
  return `cannot be read${where}: ${message}`
}

/**
 * Returns the project that a file belongs to: the parent of `.vscode`, `.cursor` and similar folders, or the file's own
 * folder.
 */
const projectOf = (path: string, { home }: Machine): string | undefined => {
  const folder = dirname(path)
  const project = /[\\/]\.[A-Za-z]+$/.test(folder) ? dirname(folder) : folder
  return project === home || folder === home ? undefined : project
}

/** Reads the servers in a configuration file. `path` is absolute. The error completes "The file …". */
export const readConfigFile = async (path: string, machine: Machine): Promise<Result<ConfigFile, string>> => {
  const text = await readText(path)
  if (!text.ok) return text
  const parsed = parseConfig(text.value, SYNTAXES.get(extname(path).toLowerCase()) ?? 'json')
  if (!parsed.ok) return failure(explain(parsed.error))
  const tool = toolOfFile(path, machine)
  const context = { tool, home: machine.home, project: projectOf(path, machine), directory: machine.project }
  return success({ path, tool, ...findServers(parsed.value, context) })
}
