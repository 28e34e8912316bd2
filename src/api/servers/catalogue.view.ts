import type { z } from 'zod'
import type { Presentation } from '../../servers/server.ts'
import { type CatalogueReport, findCatalogueFindings, findListCost } from '../../tools/lint/catalogue-report.ts'
import { toFindingView } from '../toolkits/findings.view.ts'
import type { ServerLintView, ServerTokensView } from './catalogue.schema.ts'

/** Token costs and findings of a server's tools, in the presentation set on the server. */
export type ServerReport = { report: CatalogueReport; presentation: Presentation }

export const toServerLintView = ({ report, presentation }: ServerReport): z.infer<typeof ServerLintView> => ({
  findings: findCatalogueFindings(report, presentation).map(toFindingView),
  tools: report.tools
    .filter(({ findings }) => findings.length > 0)
    .map(({ name, findings }) => ({ name, findings: findings.map(toFindingView) })),
})

export const toServerTokensView = ({ report, presentation }: ServerReport): z.infer<typeof ServerTokensView> => ({
  encoding: report.encoding,
  presentation,
  shownAs: findListCost(report, presentation)?.presentation ?? null,
  presentations: [...report.costs],
  tools: report.tools.map(({ name, tokens }) => ({ name, tokens })),
})
