import { lintCatalogue } from './costs.ts'
import type { Finding } from './finding.ts'
import { sortFindings } from './lint-tool.ts'

/** Presentations whose lists Patchbay builds itself, so their size is known. */
export const LISTED_PRESENTATIONS = ['flat', 'grouped', 'search'] as const
export type ListedPresentation = (typeof LISTED_PRESENTATIONS)[number]

/** Cost of tools/list under a presentation, all pages together, as sent. */
export type ListCost = { presentation: ListedPresentation; tools: number; tokens: number; bytes: number }

/** `tokens` counts the tool's JSON as in tools/list. */
export type ReportedTool = { name: string; tokens: number; findings: readonly Finding[] }

/** What a server's catalogue costs the models of its clients, and its known problems. */
export type CatalogueReport = {
  encoding: string
  /** The tools of the flat list, by name, whatever presentation the server uses. */
  tools: readonly ReportedTool[]
  costs: readonly ListCost[]
  /** The presentation that `auto` selects, and a sentence that says why. */
  auto: { presentation: ListedPresentation; why: string }
}

/** Returns the cost of the list that clients get under a presentation, or undefined if Patchbay does not build it. */
export const findListCost = ({ costs, auto }: CatalogueReport, presentation: string): ListCost | undefined => {
  const listed = presentation === 'auto' ? auto.presentation : presentation
  return costs.find(cost => cost.presentation === listed)
}

/** Returns the report of a server, or undefined if there is none. */
export type FindCatalogueReport = (serverId: string) => Promise<CatalogueReport | undefined>

/** Returns the findings about the whole list that clients get under the server's presentation. */
export const findCatalogueFindings = (report: CatalogueReport, presentation: string): Finding[] => {
  const cost = findListCost(report, presentation)
  return cost === undefined ? [] : sortFindings(lintCatalogue(cost))
}
