export { designPages } from './design.pages.ts'
export { themePages } from './theme.pages.ts'
