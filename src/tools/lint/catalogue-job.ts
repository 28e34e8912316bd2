import type { ListedPresentation, ReportedTool } from './catalogue-report.ts'

/** A catalogue as clients would list it. A worker counts its tokens and lints it. */
export type CatalogueJob = {
  /** The name that clients use for the server. */
  serverName: string
  /** Each tool as JSON, in list order, by presentation. */
  lists: Readonly<Record<ListedPresentation, readonly string[]>>
  /** Patchbay's own tools, which builders cannot change. */
  ours: ReadonlySet<string>
}

/** `tools` describes the flat list. `tokens` holds the token count of each complete list. */
export type CatalogueFigures = {
  tools: ReportedTool[]
  tokens: Record<ListedPresentation, number>
}
