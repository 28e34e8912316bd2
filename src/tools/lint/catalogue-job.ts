import type { ListedPresentation, ReportedTool } from './catalogue-report.ts'

/** A catalogue as clients would be listed it, for a worker to look at. */
export type CatalogueJob = {
  /** What clients call the server. */
  serverName: string
  /** Under each presentation the JSON of each tool, in the order of the list. */
  lists: Readonly<Record<ListedPresentation, readonly string[]>>
  /** Tools that no builder can mend, because they are ours. */
  ours: ReadonlySet<string>
}

/** What is said of a catalogue. `tools` are those of the flat list; tokens are those of each list as one text. */
export type CatalogueFigures = {
  tools: ReportedTool[]
  tokens: Record<ListedPresentation, number>
}
