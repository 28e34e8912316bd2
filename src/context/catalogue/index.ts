export {
  type CatalogueReport,
  type FindCatalogueReport,
  findCatalogueFindings,
  findListCost,
  LISTED_PRESENTATIONS,
  type ListCost,
  type ListedPresentation,
} from './catalogue-report.ts'
export { type CatalogueWork, createCatalogueWork } from './catalogue-work.ts'
export { joinList } from './read-catalogue.ts'
