export { findKeptCatalogue, listCatalogueHashes } from './catalogue.store.ts'
export type { CatalogueItem, KeptCatalogue } from './catalogue.ts'
export { createUpstreamCatalogues, type UpstreamCatalogues } from './catalogues.ts'
export { removeHidden } from './hidden-text.ts'
