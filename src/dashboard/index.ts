export { designPages } from './design.pages.ts'
export { galleryPages } from './gallery.pages.ts'
export { themePages } from './theme.pages.ts'
