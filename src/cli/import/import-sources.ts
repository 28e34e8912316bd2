import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../lib/kernel/errors.ts'
import { CONFIG_TOOLS, type Machine } from '../config-files/config-tools.ts'
import type { FoundServer } from '../config-files/found-server.ts'
import { ABSENT, type ConfigFile, readConfigFile } from '../config-files/read-config-file.ts'
import { expandPath } from '../read-variable.ts'

/** A server, the file that contains it, and the id of the tool that the file belongs to. */
export type Candidate = FoundServer & { tool: string; path: string }

export type Sources = {
  files: readonly ConfigFile[]
  /** Files that exist or were given by path but cannot be read, with one sentence each. */
  faults: readonly { path: string; why: string }[]
}

/** Returns whether a source is a path rather than the name of a tool. */
const isPath = (source: string): boolean => /[\\/.~]/.test(source)

const noTool = (source: string): AppError =>
  new AppError(
    'invalid_request',
    `Unknown tool "${source}": give a path, or one of ${CONFIG_TOOLS.map(({ id }) => id).join(', ')}.`,
  )

/** Lists the files to read: those that must exist, and those that may. */
const listPaths = (sources: readonly string[], machine: Machine): { path: string; isNeeded: boolean }[] => {
  if (sources.length === 0) {
    return CONFIG_TOOLS.flatMap(({ listFiles }) => listFiles(machine).map(path => ({ path, isNeeded: false })))
  }
  return sources.flatMap((source): { path: string; isNeeded: boolean }[] => {
    const tool = CONFIG_TOOLS.find(({ id, title }) => id === source.toLowerCase() || title === source)
    if (tool !== undefined) return tool.listFiles(machine).map(path => ({ path, isNeeded: false }))
    if (!isPath(source)) throw noTool(source)
    return [{ path: expandPath(source), isNeeded: true }]
  })
}

/** Reads the files of the given tools and at the given paths, or of all known tools if none are given. */
export const readSources = async (sources: readonly string[], machine: Machine): Promise<Sources> => {
  const files: ConfigFile[] = []
  const faults: { path: string; why: string }[] = []
  const seen = new Set<string>()
  for (const { path, isNeeded } of listPaths(sources, machine)) {
    if (seen.has(path)) continue
    seen.add(path)
    const read = await readConfigFile(path, machine)
    if (read.ok) {
      if (isNeeded || read.value.servers.length + read.value.unusable.length > 0) files.push(read.value)
    } else if (isNeeded || read.error !== ABSENT) faults.push({ path, why: `The file ${path} ${read.error}.` })
  }
  return { files, faults }
}

/** Lists the servers in all files. Includes a server that occurs in several files only once. */
export const listCandidates = (files: readonly ConfigFile[]): Candidate[] => {
  const candidates: Candidate[] = []
  for (const { tool, path, servers } of files) {
    for (const server of servers) {
      const isKnown = candidates.some(
        known => known.name === server.name && isDeepStrictEqual(known.place, server.place),
      )
      if (!isKnown) candidates.push({ ...server, tool: tool.id, path })
    }
  }
  return candidates
}
