import { isDeepStrictEqual } from 'node:util'
import { CONFIG_TOOLS, type ConfigFile, type FoundServer, type Machine, readConfigFile } from '../config-files/index.ts'
import { AppError } from '../kernel/index.ts'
import { expandPath } from './read-variable.ts'

/** A server, and the file that names it. */
export type Candidate = { tool: string; path: string; server: FoundServer }

export type Sources = {
  files: readonly ConfigFile[]
  /** Files that were asked for, or are there, and cannot be read; a sentence each. */
  faults: readonly { path: string; why: string }[]
}

/** Whether it is written as a path, and not as the name of a tool. */
const isPath = (source: string): boolean => /[\\/.~]/.test(source)

const noTool = (source: string): AppError =>
  new AppError(
    'invalid_request',
    `There is no tool "${source}": give a path, or one of ${CONFIG_TOOLS.map(({ id }) => id).join(', ')}.`,
  )

/** Files to look into: all that must be there, and those that may be. */
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

/** Reads the files of the tools that are named, those at the paths given, or without any all that are known. */
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
    } else if (isNeeded || !read.error.isAbsent) faults.push({ path, why: `The file ${path} ${read.error.message}.` })
  }
  return { files, faults }
}

/** All servers of the files; one that several files have the same stands for all of them. */
export const listCandidates = (files: readonly ConfigFile[]): Candidate[] => {
  const candidates: Candidate[] = []
  for (const { tool, path, servers } of files) {
    for (const server of servers) {
      const isKnown = candidates.some(
        known => known.server.name === server.name && isDeepStrictEqual(known.server.place, server.place),
      )
      if (!isKnown) candidates.push({ tool: tool.id, path, server })
    }
  }
  return candidates
}
