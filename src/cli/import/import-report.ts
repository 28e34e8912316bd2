import type { UpstreamDraft } from '../config-files/draft-upstreams.ts'
import type { ImportOutcome } from './import-run.ts'
import type { Candidate, Sources } from './import-sources.ts'

/** The files read, and drafts of upstreams for the servers in them. */
export type Found = { sources: Sources; drafts: readonly UpstreamDraft<Candidate>[] }

/** Describes a server's command or URL, without its secrets. */
export const describePlace = ({ input }: UpstreamDraft): string =>
  input.transport === 'stdio' ? [input.command ?? '', ...(input.args ?? [])].join(' ') : (input.url ?? '')

export const toFoundView = ({ sources, drafts }: Found) => ({
  files: sources.files.map(({ path, tool, unusable, notes }) => ({
    path,
    tool: tool.id,
    servers: drafts
      .filter(({ found }) => found.path === path)
      .map(draft => {
        const { transport, enabled = true } = draft.input
        return { name: draft.found.name, transport, place: describePlace(draft), enabled, notes: draft.notes }
      }),
    unusable,
    notes,
  })),
  faults: sources.faults,
})

export const foundLines = (found: Found): string[] => {
  const { files } = toFoundView(found)
  return files.flatMap(({ path, tool, servers, unusable, notes }) => [
    `${tool}: ${path}`,
    ...servers.flatMap(({ name, transport, place, enabled, notes: each }) => [
      `  ${name}${enabled ? '' : ' (disabled)'}: ${transport} ${place}`,
      ...each.map(note => `    ${note}`),
    ]),
    ...unusable.map(({ name, why }) => `  ${name}: cannot be imported: it ${why}`),
    ...notes.map(note => `  ${note}`),
  ])
}

export const outcomeLines = ({ imported, skipped, missingGlobals }: ImportOutcome, url: string): string[] => [
  ...imported.flatMap(({ name, enabled, notes }) => [
    `Attached ${name}${enabled ? '' : ', disabled'}`,
    ...notes.map(note => `  ${note}`),
  ]),
  ...skipped.map(({ name, why }) => `Skipped ${name}: ${why}`),
  ...(missingGlobals.length > 0
    ? [`Set these globals on the server before you use it: ${missingGlobals.join(', ')}`]
    : []),
  `MCP server: ${url}`,
]
