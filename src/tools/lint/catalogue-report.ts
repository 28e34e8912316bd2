import { lintCatalogue } from './costs.ts'
import type { Finding } from './finding.ts'
import { sortFindings } from './lint-tool.ts'

/** Presentations whose lists Patchbay builds itself, so that their sizes are known. */
export const LISTED_PRESENTATIONS = ['flat', 'grouped', 'search'] as const
export type ListedPresentation = (typeof LISTED_PRESENTATIONS)[number]

/** Cost of tools/list under a presentation, across all pages, as sent. */
export type ListCost = { presentation: ListedPresentation; tools: number; tokens: number; bytes: number }

/** `tokens` is the token count of the tool's JSON as sent in tools/list. */
export type ReportedTool = { name: string; tokens: number; findings: readonly Finding[] }

/** The token cost of a server's catalogue for its clients' models, and the catalogue's known problems. */
export type CatalogueReport = {
  encoding: string
  /** The tools of the flat list by name, regardless of the server's presentation. */
  tools: readonly ReportedTool[]
  costs: readonly ListCost[]
  /** The presentation that `auto` selects, with a sentence that explains why. */
  auto: { presentation: ListedPresentation; why: string }
}

/** Returns the cost of the list that clients get under a presentation, or undefined if Patchbay does not build it. */
export const findListCost = ({ costs, auto }: CatalogueReport, presentation: string): ListCost | undefined => {
  const listed = presentation === 'auto' ? auto.presentation : presentation
  return costs.find(cost => cost.presentation === listed)
}

/** Returns the report on a server, or undefined if there is none. */
export type FindCatalogueReport = (serverId: string) => Promise<CatalogueReport | undefined>

/** Returns the findings about the complete list that clients get under the server's presentation. */
export const findCatalogueFindings = (report: CatalogueReport, presentation: string): Finding[] => {
  const cost = findListCost(report, presentation)
  return cost === undefined ? [] : sortFindings(lintCatalogue(cost))
}
