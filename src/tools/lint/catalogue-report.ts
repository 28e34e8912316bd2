import { lintCatalogue } from './costs.ts'
import type { Finding } from './finding.ts'
import { sortFindings } from './lint-tool.ts'

/** Presentations whose lists are made here, so that their bytes are known. */
export const LISTED_PRESENTATIONS = ['flat', 'grouped', 'search'] as const
export type ListedPresentation = (typeof LISTED_PRESENTATIONS)[number]

/** What tools/list costs under a presentation: all its pages together, as they go out. */
export type ListCost = { presentation: ListedPresentation; tools: number; tokens: number; bytes: number }

/** `tokens`: of its own JSON, as tools/list has it. */
export type ReportedTool = { name: string; tokens: number; findings: readonly Finding[] }

/** What a server's catalogue costs the models of its clients, and what is known to speak against it. */
export type CatalogueReport = {
  /** What the tokens were counted by. */
  encoding: string
  /** Every tool by itself, as a flat list has it, by name: also where clients are shown groups of them. */
  tools: readonly ReportedTool[]
  costs: readonly ListCost[]
  /** What `auto` comes to, and why, in a sentence. */
  auto: { presentation: ListedPresentation; why: string }
}

/** Which of the lists clients get, where the server has this presentation; undefined where none of them is. */
export const findListCost = ({ costs, auto }: CatalogueReport, presentation: string): ListCost | undefined => {
  const listed = presentation === 'auto' ? auto.presentation : presentation
  return costs.find(cost => cost.presentation === listed)
}

/** Of a server, by its id; undefined when there is none of it. */
export type FindCatalogueReport = (serverId: string) => Promise<CatalogueReport | undefined>

/** What speaks against the whole list that clients get, under the presentation that the server has. */
export const findCatalogueFindings = (report: CatalogueReport, presentation: string): Finding[] => {
  const cost = findListCost(report, presentation)
  return cost === undefined ? [] : sortFindings(lintCatalogue(cost))
}
